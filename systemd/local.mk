# SPDX-License-Identifier: BSD-3-Clause
EXTRA_DIST += %D%/rpmad.json %D%/rpmad-metrics.socket.in %D%/rpmad-metrics@.service.in %D%/rpmad.service.in %D%/rpmad.socket.in %D%/rpmad.sysusers %D%/rpmad.tmpfiles.in

if HAVE_SYSTEMD_UNITS
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
systemd_units = %D%/rpmad.service %D%/rpmad.socket %D%/rpmad@.service %D%/rpmad@.socket \
  %D%/rpmad-metrics.socket %D%/rpmad-metrics@.service
nodist_systemdsystemunit_DATA = $(systemd_units)
nodist_sysusers_DATA = %D%/sysusers.d/rpmad.conf
nodist_tmpfiles_DATA = %D%/tmpfiles.d/rpmad.conf
CLEANFILES += $(systemd_units) %D%/sysusers.d/rpmad.conf %D%/tmpfiles.d/rpmad.conf

# What the daemon tells the manager, and what it says nothing of.
if HAVE_LIBSYSTEMD
unit_words = -e 's|^@libsystemd[@]||' -e '/^@without[@]/d'
else
unit_words = -e 's|^@without[@]||' -e '/^@libsystemd[@]/d'
endif
# The one instance that has no name, and those that have: the same but for names.
unit_alone = $(unit_words) -e 's|@config[@]|rpmad|g' -e 's|@option[@]||g' -e 's|@of_instance[@]||g' -e '/@requires[@]/d'
unit_named = $(unit_words) -e 's|@config[@]|%i|g' -e 's|@option[@]|-i %i |g' -e 's|@of_instance[@]| (%i)|g' \
  -e 's|@requires[@]|\# The daemon knows the path of its socket by being handed it.\nRequires=rpmad@%i.socket|g'
%D%/rpmad.service: %D%/rpmad.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(unit_alone) $(srcdir)/%D%/rpmad.service.in >$@.tmp && mv $@.tmp $@
%D%/rpmad.socket: %D%/rpmad.socket.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(unit_alone) $(srcdir)/%D%/rpmad.socket.in >$@.tmp && mv $@.tmp $@
%D%/rpmad@.service: %D%/rpmad.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(unit_named) $(srcdir)/%D%/rpmad.service.in >$@.tmp && mv $@.tmp $@
%D%/rpmad@.socket: %D%/rpmad.socket.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(unit_named) $(srcdir)/%D%/rpmad.socket.in >$@.tmp && mv $@.tmp $@
%D%/rpmad-metrics.socket: %D%/rpmad-metrics.socket.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(srcdir)/%D%/rpmad-metrics.socket.in >$@.tmp && mv $@.tmp $@
%D%/rpmad-metrics@.service: %D%/rpmad-metrics@.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(srcdir)/%D%/rpmad-metrics@.service.in >$@.tmp && mv $@.tmp $@
%D%/sysusers.d/rpmad.conf: %D%/rpmad.sysusers Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $(srcdir)/%D%/rpmad.sysusers $@
%D%/tmpfiles.d/rpmad.conf: %D%/rpmad.tmpfiles.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(subst) $(srcdir)/%D%/rpmad.tmpfiles.in >$@.tmp && mv $@.tmp $@
endif

# The configuration belongs to the administrator: what is there is never overwritten, and only what was
# never changed is removed.
install-data-local: install-rpmad-json
install-rpmad-json:
	@$(NORMAL_INSTALL)
	$(MKDIR_P) '$(DESTDIR)$(sysconfdir)/rpmad'
	test -e '$(DESTDIR)$(sysconfdir)/rpmad/rpmad.json' || \
	  $(INSTALL_DATA) $(srcdir)/%D%/rpmad.json '$(DESTDIR)$(sysconfdir)/rpmad/rpmad.json'
uninstall-local: uninstall-rpmad-json
uninstall-rpmad-json:
	@$(NORMAL_UNINSTALL)
	if cmp -s $(srcdir)/%D%/rpmad.json '$(DESTDIR)$(sysconfdir)/rpmad/rpmad.json'; then \
	  rm -f '$(DESTDIR)$(sysconfdir)/rpmad/rpmad.json'; fi
