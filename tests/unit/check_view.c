/* SPDX-License-Identifier: BSD-3-Clause */
/* Text forms of results with none, one and two objects, and the output beneath them. */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "ctl/columns.h"
#include "ctl/command.h"
#include "ctl/format.h"
#include "ctl/out.h"
#include "ctl/view.h"
#include "lib/core/compiler.h"
#include "tests/unit/ctl_harness.h"
#include "tests/unit/harness.h"

struct fixture {
	const char *name;
	command_view_fn view;
	const char *json; /* with ' for " */
};

/* clang-format off */
#define SLOTS "'slots':{'free':12,'posted':500,'ready':3,'leased':1,'total':516}"
#define CONN_3 "{'conn':3,'state':'established','direction':'in','peer':'192.0.2.9:40001'," \
	"'local':'192.0.2.7:7471','qp_num':17,'listener':1,'since':'2026-01-02T03:04:05.123456Z'," \
	"'messages':12,'bytes':49152,'sent_messages':0,'sent_bytes':0,'held':4,'held_max':9,'last_recv_age_ms':1250," \
	"'peer_slot_size':4096,'reason':null,'closed_at':null,'errors':0}"
#define CONN_4 "{'conn':4,'state':'closed','direction':'out','peer':'[2001:db8::9]:7471'," \
	"'local':'[2001:db8::7]:40002','qp_num':null,'listener':null,'since':'2026-01-02T03:04:05.123456Z'," \
	"'messages':0,'bytes':0,'sent_messages':9007199254740991,'sent_bytes':5,'held':0,'held_max':0,'last_recv_age_ms':null," \
	"'peer_slot_size':null,'reason':'message_too_long','closed_at':'2026-01-02T03:05:05.000000Z','errors':1}"
#define CONN_5 "{'conn':5,'state':'established','direction':'in','peer':'192.0.2.9:40001'," \
	"'local':'192.0.2.7:7471','qp_num':17,'listener':1,'since':'2026-01-02T03:04:05.123456Z'," \
	"'messages':1,'bytes':0,'sent_messages':1,'sent_bytes':1,'held':1,'held_max':1,'last_recv_age_ms':1250," \
	"'peer_slot_size':4096,'reason':null,'closed_at':null,'errors':0}"
#define LISTENER_1 "{'listener':1,'addr':'192.0.2.7','port':7471,'up':true,'requests_total':5,'accepted_total':4}"
#define LISTENER_2 "{'listener':2,'addr':'2001:db8::7','port':7471,'up':false,'requests_total':0,'accepted_total':0}"
#define DEVICE_RXE "{'name':'rxe0','transport':'infiniband','node_guid':'0000:0000:0000:0001','in_use':true," \
	"'addrs':['192.0.2.7','fe80::1%eth0'],'ports':[{'port':1,'state':'ACTIVE','link_layer':'Ethernet','netdev':'eth0'," \
	"'gids':[{'index':0,'gid':'fe80::1','type':'RoCE v2'}]}],'limits':{'max_srq':960,'max_srq_wr':32768,'max_cqe':32767," \
	"'max_qp':1024,'max_qp_wr':16384,'max_mr_bytes':9223372036854775807},'usable':true,'reasons':[]}"
#define DEVICE_SIW "{'name':'siw0','transport':'iwarp','node_guid':'0000:0000:0000:0002','in_use':false," \
	"'addrs':[],'ports':[],'limits':null,'usable':false,'reasons':['no port is active','no address leads to it']}"

#define EVENT_1 "{'seq':1,'at':'2026-01-02T03:04:05.123456Z','type':'daemon.started','conn':null,'addr':null,'reason':'1.4.0'," \
	"'duration_ns':null,'count':1}"
#define EVENT_2 "{'seq':2,'at':'2026-01-02T03:04:06.123456Z','type':'conn.closed','conn':12,'addr':'[2001:db8::9]:40001'," \
	"'reason':'over_quota','duration_ns':null,'count':1}"
#define EVENT_3 "{'seq':3,'at':'2026-01-02T03:04:07.123456Z','type':'srq.refilled','conn':null,'addr':null,'reason':null," \
	"'duration_ns':3200000000,'count':4}"

static const struct fixture fixtures[] = {
	{ "status_running", view_status,
	  "{'state':'running','reason':null,'version':'1.4.0','instance':'0123456789abcdef','pid':42,'uptime_ms':125000,"
	  "'device':'rxe0','refill':'auto'," SLOTS ",'listeners':1,'conns':2,'clients':1,"
	  "'warnings':['SRQ empty 3.2 s in the last minute: raise pool.slots','a second\\none']}" },
	{ "status_waiting", view_status,
	  "{'state':'waiting_for_device','reason':'there is no RDMA device at 192.0.2.7','version':'1.4.0',"
	  "'instance':'0123456789abcdef','pid':42,'uptime_ms':900,'device':null,'refill':'manual'," SLOTS ","
	  "'listeners':0,'conns':0,'clients':1,'warnings':[]}" },
	{ "events_0", view_events, "{'instance':'0123456789abcdef','events':[],'next':0,'missed':0}" },
	{ "events_1", view_events, "{'instance':'0123456789abcdef','events':[" EVENT_1 "],'next':1,'missed':0}" },
	{ "events_2", view_events, "{'instance':'0123456789abcdef','events':[" EVENT_2 "," EVENT_3 "],'next':3,'missed':1}" },
	{ "stopping", view_stopping, "{'stopping':true}" },
	{ "reloaded", view_reloaded,
	    "{'changed':['log.level','control.roles'],'needs_restart':['pool.slots']}" },
	{ "reloaded_nothing", view_reloaded, "{'changed':[],'needs_restart':[]}" },
	{ "log_level", view_log_level, "{'level':'debug','before':'notice'}" },
	{ "methods_0", view_methods, "{'methods':[]}" },
	{ "methods_2", view_methods,
	  "{'methods':[{'name':'rpc.list','role':'read','help':'list the methods'},"
	  "{'name':'recv.post','role':'post','help':'post free slots'}]}" },
	{ "stats", view_numbers,
	  "{" SLOTS ",'srq':{'posted_total':18446744073,'post_failures_total':3,'post_failures':[{'name':'ENOMEM','count':3}]},"
	  "'recv':{'errors':[{'status':'LOC_LEN_ERR','count':2},{'status':'WR_FLUSH_ERR','count':7}],'dropped':[{'reason':'not_posted','count':4}]},"
	  "'cm':{'conns':1,'ids':2,'rejected':[],'closes':[{'reason':'peer','count':1}]},'memory':{'memlock_limit_bytes':null,'huge_page_bytes':0},"
	  "'ports':[{'device':'rxe0','port':1,'state':'ACTIVE','rate':null,'hw_counters':{'x':9}}]}" },
	{ "srq_active", view_srq,
	  "{'device':'rxe0','state':'active','asked':512,'effective':511,'posted':500,'free':12,'total':516,'target':256,'low_watermark':64,"
	  "'refill':'auto','min_rnr_timer_us':640,'min_rnr_timer_code':12,'cq_asked':516,'huge_pages':true,'pool_bytes':4194304,'page_size':2097152,'empty':true,'posted_total':1000,'refills_total':20,"
	  "'post_failures_total':0,'times_low_total':3,'times_empty_total':2,'empty_ns_total':3200000000}" },
	{ "srq_none", view_srq,
	  "{'device':null,'state':'none','asked':512,'effective':null,'posted':0,'free':516,'total':516,'target':256,'low_watermark':64,"
	  "'refill':'manual','min_rnr_timer_us':640,'min_rnr_timer_code':12,'cq_asked':516,'huge_pages':false,'pool_bytes':2113536,'page_size':4096,'empty':true,'posted_total':0,'refills_total':0,"
	  "'post_failures_total':0,'times_low_total':0,'times_empty_total':0,'empty_ns_total':0}" },
	{ "posted", view_posted, "{'accepted':4,'posted':504,'free':8}" },
	{ "posted_one", view_posted, "{'accepted':1,'posted':1,'free':0}" },
	{ "acked", view_acked, "{'acked':2,'unknown':['0123456789abcdef.9.9']}" },
	{ "nacked", view_nacked, "{'nacked':1,'unknown':[]}" },
	{ "conns_0", view_conns, "{'conns':[]}" },
	{ "conns_1", view_conns, "{'conns':[" CONN_3 "]}" },
	{ "conns_2", view_conns, "{'conns':[" CONN_3 "," CONN_4 "]}" },
	{ "conn_open", view_conn, CONN_3 },
	{ "conn_closed", view_conn, CONN_4 },
	{ "conn_one", view_conn, CONN_5 },
	{ "opened", view_opened, "{'conn':4,'peer':'192.0.2.9:7471','local':'192.0.2.7:40002','peer_slot_size':null}" },
	{ "closed", view_closed, "{'conn':4,'reason':'local'}" },
	{ "sent", view_sent, "{'conn':4,'messages':1,'bytes':5}" },
	{ "sent_one", view_sent, "{'conn':4,'messages':1,'bytes':1}" },
	{ "sent_peer", view_sent, "{'conn':4,'messages':3,'bytes':5,'peer':'192.0.2.9:7471'}" },
	{ "listening", view_listening, LISTENER_1 },
	{ "unlistened", view_unlistened, "{'listener':1}" },
	{ "listeners_0", view_listeners, "{'listeners':[]}" },
	{ "listeners_1", view_listeners, "{'listeners':[" LISTENER_1 "]}" },
	{ "listeners_2", view_listeners, "{'listeners':[" LISTENER_1 "," LISTENER_2 "]}" },
	{ "devices_0", view_devices, "{'devices':[]}" },
	{ "devices_1", view_devices, "{'devices':[" DEVICE_RXE "]}" },
	{ "devices_2", view_devices, "{'devices':[" DEVICE_RXE "," DEVICE_SIW "]}" },
	{ "any", view_any, "{'a':[1,null,{'b':'\xc3\xa4'}]}" },
};
/* clang-format on */

static json_t *
parse(const char *text)
{
	char *json = strdup(text), *at;
	json_t *value;

	for (at = json; *at != '\0'; at++)
		if (*at == '\'')
			*at = '"';
	value = json_loads(json, JSON_DECODE_ANY, NULL);
	ck_assert_msg(value != NULL, "%s", json);
	free(json);
	return value;
}

/* The text for a terminal of 100 columns, and what a pipe gets, one below the other. */
START_TEST(text_of_each_object)
{
	const struct fixture *fixture = &fixtures[_i];
	struct out out = { .is_terminal = true, .width = 100 };
	json_t *value = parse(fixture->json);
	char name[64];

	fixture->view(&out, value);
	buf_puts(&out.buf, "---- piped\n");
	out.is_terminal = false;
	fixture->view(&out, value);
	(void)snprintf(name, sizeof(name), "view_%s", fixture->name);
	golden_check(name, buf_text(&out.buf), out.buf.len);
	json_decref(value);
	out_fini(&out);
}
END_TEST

/* What a daemon of another version might leave out ends no view. */
START_TEST(empty_object)
{
	struct out out = { .is_terminal = true };
	json_t *value = json_object();

	fixtures[_i].view(&out, value);
	json_decref(value);
	out_fini(&out);
}
END_TEST

/* Each command that has a view has one that the fixtures show. */
START_TEST(each_view_is_shown)
{
	size_t i;

	if (!commands[_i].view)
		return;
	for (i = 0; i < ARRAY_LEN(fixtures); i++)
		if (fixtures[i].view == commands[_i].view)
			return;
	ck_abort_msg("no fixture for the view of %s", commands[_i].name);
}
END_TEST

/* clang-format off */
static const char *const completions[] = {
	"{'token':'0123456789abcdef.7.1','seq':1,'status':'SUCCESS','opcode':'RECV','conn':3,'peer':'192.0.2.9:40001',"
	"'qp_num':17,'slot':7,'len':5,'imm':null,'context':null,'received_at':'2026-01-02T03:04:05.123456Z',"
	"'deliveries':1,'encoding':'text','data':'hello'}",
	"{'token':'0123456789abcdef.8.1','seq':1000002,'status':'SUCCESS','opcode':'RECV_RDMA_WITH_IMM','conn':4,"
	"'peer':'[2001:db8::9]:40001','qp_num':18,'slot':8,'len':16,'imm':4294967295,'context':'a label',"
	"'received_at':'2026-01-02T03:04:05.123456Z','deliveries':2,'encoding':'text',"
	"'data':'a\\nb\\t\\u001b[31m\\u202e\\u0085\\\\ \\u00e4\\ud83d\\ude00'}",
	"{'token':'0123456789abcdef.9.1','seq':3,'status':'SUCCESS','opcode':'RECV','conn':3,'peer':'192.0.2.9:40001',"
	"'qp_num':17,'slot':9,'len':3,'imm':null,'context':null,'received_at':'2026-01-02T03:04:05.123456Z',"
	"'deliveries':1,'encoding':'base64','data':'/wD/'}",
	"{'token':'0123456789abcdef.10.1','seq':4,'status':'SUCCESS','opcode':'RECV','conn':3,'peer':'192.0.2.9:40001',"
	"'qp_num':17,'slot':10,'len':3,'imm':null,'context':null,'received_at':'2026-01-02T03:04:05.123456Z',"
	"'deliveries':1,'encoding':'none','data':null}",
};
/* clang-format on */

START_TEST(messages)
{
	struct out out = { .is_terminal = true, .width = 90 };
	struct columns *columns;
	json_t *value;
	size_t i, form;

	for (form = 0; form < 4; form++) {
		out.is_terminal = form % 2 == 0;
		columns = view_messages_new(form >= 2);
		for (i = 0; i < ARRAY_LEN(completions); i++) {
			value = parse(completions[i]);
			view_message(columns, form >= 2, value);
			json_decref(value);
		}
		ck_assert_uint_eq(columns_rows(columns), ARRAY_LEN(completions));
		columns_print(columns, &out, out.is_terminal);
		ck_assert_uint_eq(columns_rows(columns), 0);
		columns_free(columns);
	}
	golden_check("view_messages", out.buf.data, out.buf.len);
	out_fini(&out);
}
END_TEST

START_TEST(escapes)
{
	static const struct {
		const char *text, *shown;
	} cases[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "\n\r\t\\\x7f\x01", "\\n\\r\\t\\\\\\x7f\\x01" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		    "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\xc2\x85\xe2\x80\xae\xe2\x81\xa9", "\\u0085\\u202e\\u2069" },
		{ "\xff\xc3\x28\xe2\x82", "\\xff\\xc3(\\xe2\\x82" },
		{ "\x80\xbf", "\\x80\\xbf" },
	};
	struct buf buf = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		buf_clear(&buf);
		buf_add_escaped(&buf, cases[i].text, strlen(cases[i].text));
		ck_assert_str_eq(buf_text(&buf), cases[i].shown);
	}
	buf_free(&buf);
}
END_TEST

START_TEST(times)
{
	static const struct {
		uint64_t ms;
		const char *exact, *rough;
	} cases[] = {
		{ 0, "0 s", "0.0s" },
		{ 250, "250 ms", "0.2s" },
		{ 10000, "10 s", "10s" },
		{ 59999, "59999 ms", "59s" },
		{ 125000, "125 s", "2m 5s" },
		{ 7260000, "7260 s", "2h 1m" },
		{ 273600000, "273600 s", "3d 4h" },
	};
	char text[FORMAT_TIME_MAX];
	size_t i;

	for (i = 0; i < ARRAY_LEN(cases); i++) {
		ck_assert_str_eq(format_ms(cases[i].ms, text, sizeof(text)),
		    cases[i].exact);
		ck_assert_str_eq(format_age(cases[i].ms, text, sizeof(text)),
		    cases[i].rough);
	}
}
END_TEST

/* JSON goes out as it came: order, exact integers, ASCII. */
START_TEST(json_line)
{
	struct out out = { 0 };
	json_t *value =
	    parse("{'z':1,'a':[9007199254740993,null,true],'u':'\xc3\xa4'}");

	out_json(&out, value);
	ck_assert_str_eq(buf_text(&out.buf),
	    "{\"z\":1,\"a\":[9007199254740993,null,true],\"u\":\"\\u00E4\"}\n");
	json_decref(value);
	out_fini(&out);
}
END_TEST

START_TEST(failing_output)
{
	struct out out = { .interrupt_fd = -1 };
	struct err err = { 0 };
	int fds[2];

	out.fd = open("/dev/full", O_WRONLY);
	buf_puts(&out.buf, "x");
	ck_assert_int_eq(out_flush(&out, &err), -EIO);
	ck_assert_str_eq(err.text,
	    "cannot write to standard output: No space left on device");
	(void)close(out.fd);
	ck_assert_int_eq(out_flush(&out, &err), 0); /* nothing is left */

	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(fds), 0);
	(void)close(fds[0]);
	out.fd = fds[1];
	buf_puts(&out.buf, "x");
	ck_assert_int_eq(out_flush(&out, &err), -EIO);
	ck_assert_int_eq(err.errnum, EPIPE);
	(void)close(fds[1]);
	out_fini(&out);
}
END_TEST

/* A reader that takes nothing: an interrupt ends the wait, not the time. */
START_TEST(interrupted_output)
{
	struct out out = { 0 };
	struct err err = { 0 };
	int fds[2], interrupt[2];
	char block[8192] = { 0 };

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(pipe(interrupt), 0);
	ck_assert_int_eq(write(interrupt[1], "x", 1), 1);
	out.fd = fds[1];
	out.interrupt_fd = interrupt[0];
	ck_assert_int_eq(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
	while (write(fds[1], block, sizeof(block)) > 0)
		;
	ck_assert_int_eq(fcntl(fds[1], F_SETFL, 0), 0);
	buf_add(&out.buf, block, sizeof(block));
	ck_assert_int_eq(out_flush(&out, &err), -EINTR);
	out_fini(&out);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("view");
	TCase *tcase = tcase_create("view");

	tcase_add_loop_test(tcase, text_of_each_object, 0, ARRAY_LEN(fixtures));
	tcase_add_loop_test(tcase, empty_object, 0, ARRAY_LEN(fixtures));
	tcase_add_loop_test(tcase, each_view_is_shown, 0, (int)command_count);
	tcase_add_test(tcase, messages);
	tcase_add_test(tcase, escapes);
	tcase_add_test(tcase, times);
	tcase_add_test(tcase, json_line);
	tcase_add_test(tcase, failing_output);
	tcase_add_test(tcase, interrupted_output);
	suite_add_tcase(suite, tcase);
	return harness_run(suite);
}
