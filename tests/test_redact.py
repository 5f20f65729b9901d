"""Section 10, redact: every family with samples and look-alikes, streams cut anywhere, private keys, bounds.

No secret stands in this file: the samples are computed, and their prefixes are spelt in two pieces, so that no scanner trips
over them.
"""
from __future__ import annotations

import hashlib
import json
import re
import shlex
import string
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ctx

try:
    from re import _constants as sre_constants
    from re import _parser as sre_parse
except ImportError:
    import sre_constants
    import sre_parse

CORPUS = Path(__file__).parent / "corpus"

HEX, DIGITS, UPPER, LOWER = "0123456789abcdef", string.digits, string.ascii_uppercase, string.ascii_lowercase
ALNUM = UPPER + LOWER + DIGITS
BASE64, URL64 = ALNUM + "+/", ALNUM + "-_"


def body(length, alphabet=ALNUM, seed=""):
    """Characters that look random, always the same; the first and the last are letters or digits."""
    out, n = [], 0
    while len(out) < length:
        for byte in hashlib.sha256(("%s %d %d %s" % (alphabet, length, n, seed)).encode()).digest():
            out.append(alphabet[byte % len(alphabet)])
        n += 1
    out = out[:length]
    for at in (0, -1):
        out[at] = out[at] if out[at].isalnum() else alphabet[7]
    return "".join(out)


def marker(kind, secret):
    return "[redacted:%s:%s]" % (kind, hashlib.sha256(secret.encode()).hexdigest()[:6])


SNOWFLAKE = "MTA4MzI3NDkyMTg0NzE2MjkzMg"  # a number in base64, no secret of its own
HEADER = "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"
PEM_START, PEM_END = "-----BEGIN %s" + "KEY-----", "-----END %s" + "KEY-----"
PEM_LINE = body(64, BASE64)

TOKENS = [
    ("private-key", "LS0tLS1C" + "RUdJTiBSU0EgUFJJVkFURSBLRVkt" + body(200, BASE64)),
    ("private-key", "LS0tLS1C" + "RUdJTiBPUEVOU1NIIFBSSVZBVEUg" + body(200, BASE64)),
    ("aws-access-key", "AK" + "IA" + body(16, UPPER + "234567")),
    ("aws-access-key", "AS" + "IA" + body(16, UPPER + DIGITS)),
    ("github-token", "gh" + "p_" + body(36)),
    ("github-token", "gh" + "o_" + body(36)),
    ("github-token", "gh" + "u_" + body(36)),
    ("github-token", "gh" + "s_" + body(36)),
    ("github-token", "gh" + "r_" + body(76)),
    ("github-token", "gh" + "p_" + body(36, HEX)),
    ("github-token", "gh" + "p_" + "A1" * 18),
    ("github-token", "github" + "_pat_" + body(22) + "_" + body(59)),
    ("gitlab-token", "gl" + "pat-" + body(20, URL64)),
    ("gitlab-token", "gl" + "pat-" + body(27, URL64) + ".01." + body(9, LOWER + DIGITS)),
    ("gitlab-token", "gl" + "dt-" + body(20, HEX)),
    ("gitlab-token", "gl" + "rt-" + body(20, URL64)),
    ("gitlab-token", "gl" + "cbt-" + body(20)),
    ("gitlab-token", "gl" + "agent-" + body(50, URL64)),
    ("gitlab-token", "gl" + "oas-" + body(64, HEX)),
    ("gitlab-token", "GR" + "1348941" + body(20, URL64)),
    ("slack-token", "xo" + "xb-" + body(12, DIGITS) + "-" + body(13, DIGITS) + "-" + body(24)),
    ("slack-token", "xo" + "xp-" + body(11, DIGITS) + "-" + body(11, DIGITS) + "-" + body(12, DIGITS) + "-" + body(32, HEX)),
    ("slack-token", "xo" + "xe.xoxp-1-" + body(140)),
    ("slack-token", "xa" + "pp-1-A" + body(10, UPPER + DIGITS) + "-" + body(13, DIGITS) + "-" + body(64, HEX)),
    ("stripe-key", "sk_" + "live_" + body(24)),
    ("stripe-key", "sk_" + "test_" + body(99)),
    ("stripe-key", "rk_" + "live_" + body(24, HEX)),
    ("stripe-key", "wh" + "sec_" + body(32)),
    ("google-api-key", "AI" + "za" + body(35, URL64)),
    ("google-oauth-token", "ya" + "29." + body(80, URL64)),
    ("google-oauth-token", "1/" + "/0" + body(60, URL64)),
    ("google-oauth-secret", "GO" + "CSPX-" + body(28, URL64)),
    ("npm-token", "np" + "m_" + body(36)),
    ("pypi-token", "py" + "pi-AgE" + "IcHlwaS5vcmc" + body(130, URL64)),
    ("docker-token", "dc" + "kr_pat_" + body(27, URL64)),
    ("docker-token", "dc" + "kr_oat_" + body(32, URL64)),
    ("huggingface-token", "hf" + "_" + body(34, UPPER + LOWER)),
    ("huggingface-token", "api" + "_org_" + body(34, UPPER + LOWER)),
    ("anthropic-key", "sk" + "-ant-api03-" + body(93, URL64) + "AA"),
    ("openai-key", "sk" + "-" + body(20) + "T3Blbk" + "FJ" + body(20)),
    ("openai-key", "sk" + "-proj-" + body(120, URL64)),
    ("openai-key", "sk" + "-or-v1-" + body(64, HEX)),
    ("groq-key", "gs" + "k_" + body(52)),
    ("xai-key", "xa" + "i-" + body(80)),
    ("perplexity-key", "pp" + "lx-" + body(48)),
    ("replicate-token", "r" + "8_" + body(37)),
    ("langsmith-key", "ls" + "v2_pt_" + body(32, HEX) + "_" + body(10, HEX)),
    ("sendgrid-key", "S" + "G." + body(22, URL64) + "." + body(43, URL64)),
    ("brevo-key", "xk" + "eysib-" + body(64, HEX) + "-" + body(16)),
    ("brevo-key", "xs" + "mtpsib-" + body(64, HEX) + "-" + body(16)),
    ("mailgun-key", "ke" + "y-" + body(32, HEX)),
    ("twilio-key", "S" + "K" + body(32, HEX)),
    ("discord-token", SNOWFLAKE + "." + body(6, URL64) + "." + body(38, URL64)),
    ("digitalocean-token", "do" + "p_v1_" + body(64, HEX)),
    ("vault-token", "hv" + "s." + body(95, URL64)),
    ("age-secret-key", "AGE-SEC" + "RET-KEY-1" + body(58, UPPER + DIGITS)),
    ("jwt", HEADER + ".ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + body(43, URL64)),
    ("jwt", HEADER + "." + body(40, URL64) + "." + body(16, URL64) + "." + body(60, URL64) + "." + body(22, URL64)),
    ("1password-token", "op" + "s_eyJ" + body(400, URL64)),
    ("azure-secret", body(3) + "8" + "Q~" + body(34, ALNUM + "_~.-")),
    ("alibaba-access-key", "LT" + "AI" + body(20)),
    ("databricks-token", "da" + "pi" + body(32, HEX) + "-2"),
    ("dynatrace-token", "dt" + "0c01." + body(24, UPPER + DIGITS) + "." + body(64, UPPER + DIGITS)),
    ("openshift-token", "sha" + "256~" + body(43, URL64)),
    ("artifactory-token", "AK" + "Cp" + body(69)),
    ("atlassian-token", "AT" + "ATT3" + body(180, URL64) + "=" + body(8, UPPER + DIGITS)),
    ("atlassian-token", "AT" + "CTT3" + body(180, URL64)),
    ("atlassian-token", "AT" + "BB" + body(32)),
    ("shopify-token", "sh" + "pat_" + body(32, HEX)),
    ("shopify-token", "sh" + "pss_" + body(32, HEX)),
    ("square-token", "sq" + "0atp-" + body(22, URL64)),
    ("linear-key", "li" + "n_api_" + body(40)),
    ("notion-token", "nt" + "n_" + body(46)),
    ("notion-token", "sec" + "ret_" + body(43)),
    ("figma-token", "fi" + "gd_" + body(40, URL64)),
    ("grafana-token", "gl" + "sa_" + body(32) + "_" + body(8, HEX)),
    ("grafana-token", "gl" + "c_eyJ" + body(120, BASE64) + "=="),
    ("sentry-token", "sn" + "trys_" + body(120, BASE64) + "_" + body(43)),
    ("newrelic-key", "NR" + "AK-" + body(27, UPPER + DIGITS)),
    ("doppler-token", "dp" + ".pt." + body(43)),
    ("doppler-token", "dp" + ".st.dev." + body(43)),
    ("postman-key", "PM" + "AK-" + body(24, HEX) + "-" + body(34, HEX)),
    ("rubygems-key", "ruby" + "gems_" + body(48, HEX)),
    ("clojars-token", "CLO" + "JARS_" + body(60, LOWER + DIGITS)),
    ("tailscale-key", "ts" + "key-auth-" + body(16) + "-" + body(32)),
    ("pulumi-token", "pu" + "l-" + body(40, HEX)),
    ("planetscale-token", "ps" + "cale_tkn_" + body(43, URL64)),
    ("supabase-key", "sb" + "p_" + body(40, HEX)),
    ("supabase-key", "sb" + "_secret_" + body(31, URL64)),
    ("heroku-key", "HR" + "KU-" + body(60, URL64)),
    ("netlify-token", "nf" + "p_" + body(36)),
    ("fly-token", "fo" + "1_" + body(43, URL64)),
    ("fly-token", "fm" + "2_" + body(300, BASE64) + "=="),
    ("buildkite-token", "bk" + "ua_" + body(40, LOWER + DIGITS)),
    ("circleci-token", "CC" + "IPAT_" + body(22) + "_" + body(40, HEX)),
]

# (kind, what stands before the secret, the secret, what stands after it)
CONTEXTS = [
    ("private-key", "", PEM_START % "PRIVATE " + "\\n" + PEM_LINE + "\\n" + PEM_LINE + "\\n" + PEM_END % "PRIVATE ", ""),
    ("private-key", '"key": "', PEM_START % "RSA PRIVATE " + "\\n" + PEM_LINE + "\\n" + PEM_END % "RSA PRIVATE ", '\\n",'),
    ("private-key", "KEY='", PEM_START % "PRIVATE " + " " + PEM_LINE + " " + PEM_LINE + " " + PEM_END % "PRIVATE ", "'"),
    ("url-password", "https://user:", body(12), "@host/path"),
    ("url-password", "https://user:", "pass", "@host"),
    ("url-password", "DATABASE_URL=postgres://app:", "p@" + body(8), "@db:5432/prod?sslmode=require"),
    ("url-password", "amqp://app:", body(9) + "/" + body(9), "@mq/vhost"),
    ("url-password", "redis://:", body(20), "@cache:6379/0"),
    ("url-password", "fatal: could not read from 'https://oauth2:", body(20, HEX), "@git.example.org/a.git'"),
    ("url-password", '{"url": "https:\\/\\/u:', body(10), '@h\\/p"}'),
    ("url-password", "git+ssh://git:", "s3cr%40t", "@[::1]:22/x"),
    ("telegram-token", "https://api.telegram.org/bot", "", ""),  # replaced below
    ("mailchimp-key", "key ", body(32, HEX) + "-us" + "12", " is used"),
    ("terraform-token", "credentials ", body(14) + ".atlas" + "v1." + body(67, URL64), " {"),
    ("slack-webhook", "https://hooks.sl" + "ack.com/services/", "T" + body(9, UPPER) + "/B" + body(9, UPPER) + "/" + body(24), ""),
    ("discord-webhook", "https://disc" + "ord.com/api/webhooks/", body(18, DIGITS) + "/" + body(68, URL64), ""),
    ("teams-webhook", "https://acme.webhook.off" + "ice.com/webhookb2/", body(36, HEX + "-") + "@" + body(36, HEX + "-"), ""),
    ("url-signature", "https://a.blob.core.windows.net/c/f?sv=2022-11-02&se=2030-01-01&sig=", body(43, ALNUM) + "%3D", "&sp=r"),
    ("url-signature", "https://b.s3.amazonaws.com/f?X-Amz-Date=20300101T000000Z&X-Amz-Signature=", body(64, HEX), ""),
    ("url-signature", "AWS4-HMAC-SHA256 SignedHeaders=host, Signature=", body(64, HEX), ""),
    ("aws-secret-key", "aws_secret_access_key = ", body(40, BASE64), ""),
    ("aws-secret-key", "AWS_SECRET_ACCESS_KEY=", body(40, BASE64), ""),
    ("aws-secret-key", '    "SecretAccessKey": "', body(40, BASE64), '",'),
    ("aws-secret-key", "|  SecretAccessKey  |  ", body(40, BASE64), "  |"),
    ("aws-secret-key", "AWS Secret Access Key [None]: ", body(40, BASE64), ""),
    ("azure-key", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", body(86, BASE64) + "==", ";EndpointSuffix=core"),
    ("azure-key", "Endpoint=sb://n/;SharedAccessKeyName=Root;SharedAccessKey=", body(43, BASE64) + "=", ""),
    ("authorization", "> Authorization: Bearer ", body(40), ""),
    ("authorization", "Authorization: Basic ", "dXNlcjpwYXNzd29yZA==", ""),
    ("authorization", "Authorization: Basic ", "dXNlcjpodW50ZXIy", ""),
    ("authorization", "authorization: token ", body(40, HEX), ""),
    ("authorization", "curl -H 'Authorization: ", body(32), "' https://example.org"),
    ("authorization", "{'Authorization': 'Bearer ", body(40), "', 'Accept': '*/*'}"),
    ("authorization", '"headers":{"authorization":"Bearer ', body(40, URL64), '"}'),
    ("authorization", "Proxy-Authorization: Negotiate ", body(60, BASE64), ""),
    ("authorization", "HTTP_AUTHORIZATION=Bearer ", body(30), ""),
    ("authorization", "sending bearer ", body(30), " to host"),
    ("authorization", "* [HTTP/2] [1] [authorization: Bearer ", body(30), "]"),
    ("authorization", "map[Accept:[*/*] Authorization:[Bearer ", body(30), "]]"),
    ("authorization", "extraheader = AUTHORIZATION: basic ", "eC1hY2Nlc3MtdG9rZW46" + body(24), ""),
    ("authorization", "Authorization: AWS4-HMAC-SHA256 Bearer ", body(30), ""),
    ("cookie", "Set-Cookie: sessionid=", body(32, LOWER + DIGITS), "; Path=/; HttpOnly"),
    ("cookie", '"set-cookie": ["sid=', "s%3A" + body(30), '; Path=/"]'),
    ("cookie", "Cookie: ", "theme=dark; JSESSIONID=" + body(32, UPPER + DIGITS), ""),
    ("cookie", "curl --cookie '", "sid=" + body(32), "' https://example.org"),
    ("password", "curl -u admin:", "hunter2", " https://example.org/"),
    ("password", "curl -fsS --user 'admin:", "Tr0ub4dor&3", "' https://example.org/"),
    ("password", "sshpass -p ", "hunter2", " ssh root@host"),
    ("password", "docker login -u me -p ", body(12), " registry.example.org"),
    ("password", "mysql -h db -uroot -p", "hunter2", " shop"),
    ("password", "redis-cli -h cache -a ", body(12), " ping"),
    ("cookie", "curl -b '", "sid=" + body(32), "' https://example.org"),
    ("password", "curl -uadmin:", "hunter2", " https://example.org/"),
    ("password", "curl --proxy-user admin:", "hunter2", " https://example.org/"),
    ("password", "http -a admin:", "hunter2", " example.org"),
    ("password", "skopeo copy --src-creds me:", "hunter2", " docker://a docker://b"),
    ("password", "lftp -u me,", "hunter2", " sftp://h"),
    ("password", "smbclient //srv/share -U me%", "hunter2", " -c ls"),
    ("password", "rpcclient --user='me%", "hunter2", "' h"),
    ("password", "mongodump -u me -p ", "hunter2", " --db shop"),
    ("password", "sqlcmd -S h -U sa -P ", "hunter2", ""),
    ("password", "unzip -P ", "hunter2", " a.zip"),
    ("password", "7z x -p", "hunter2", " a.7z"),
    ("password", "+ ldapsearch -x -D cn=admin -w ", "hunter2", " -b dc=x"),
    ("password", "ldappasswd -s ", "hunter2", " uid=x"),
    ("password", "snmpwalk -v3 -u me -A ", "hunter2", " h"),
    ("password", "ssh-keygen -N ", "hunter2", " -f key"),
    ("password", "openssl enc -aes256 -k ", "hunter2", " -in x"),
    ("password", "openssl rsa -passin pass:", "hunter2", " -in x"),
    ("password", "nmcli dev wifi connect home password ", "hunter2", ""),
    ("password", "xfreerdp /u:me /p:", "hunter2", " /v:h"),
    ("password", "pdftk a.pdf input_pw ", "hunter2", " output b.pdf"),
    ("password", "wpa_passphrase 'my net' ", "hunter2x", ""),
    ("password", "rabbitmqctl change_password me ", "hunter2", ""),
    ("password", "sqlplus me/", "hunter2", "@db"),
    ("password", "htpasswd -nb me ", "hunter2", ""),
    ("password", "mysql -e \"SET PASSWORD FOR me = PASSWORD('", "hunter2", "')\""),
    ("token", "doctl auth init -t ", body(24), ""),
    ("token", "vault login ", body(24), ""),
    ("token", "npm config set //registry.example.org/:_authToken ", body(24), ""),
    ("credential", "deploy --auth ", body(24), " --prod"),
    ("secret", "gh secret set NAME --body ", "hunter2", ""),
    ("password", "CREATE USER 'a'@'%' IDENTIFIED BY '", "hunter2", "';"),
    ("password", "CREATE ROLE app WITH LOGIN PASSWORD '", "hunter2", "';"),
    ("password", "machine api.example.org login me password ", "hunter2", ""),
    ("password", "tool --password ", "hunter22", " --verbose"),
    ("password", '["tool", "--password", "', "hunter22", '"]'),
    ("token", "tool --token ", body(24), " --verbose"),
    ("api-key", "tool --api-key ", body(24), ""),
    ("password", "tool --password=", "correct", " --verbose"),
    ("password", "DB_PASSWORD=", "hunter2", ""),
    ("password", "export DB_PASSWORD='", "correct-horse-battery", "'"),
    ("password", "PGPASSWORD=", "postgres", " psql -h db"),
    ("password", "SMTP_PASS=", "letmein", ""),
    ("password", "DBPASS=", "hunter2", ""),
    ("password", "docker run -e MYSQL_ROOT_PASSWORD=", "my-secret-pw", " mysql"),
    ("password", "-Dspring.datasource.password=", "letmein", " -jar app.jar"),
    ("password", "MYSQL_PWD=", "letmein", ""),
    ("password", "MYSQL_ROOT_PASSWORD: ", "s3cr3t-root", ""),
    ("password", 'password: "', "s3cr3t!", '"'),
    ("password", "password: ", "hunter2", ""),
    ("password", "db.password=", "hunter2", ""),
    ("password", 'password = "', "Tr0ub4dor&3", '"  # noqa'),
    ("password", "'password' => '", "hunter2", "',"),
    ("password", 'Password := "', "hunter2", '"'),
    ("password", 'password: str = "', "hunter2", '"'),
    ("password", 'config["password"] = "', "hunter2", '"'),
    ("password", "password   = '", "hunter2!", "'"),
    ("password", '{"user": "me", "password": "', "hunter2", '"}'),
    ("password", '{\\"password\\": \\"', "hunter2", '\\"}'),
    ("password", "<password>", "hunter2x", "</password>"),
    ("password", "jdbc:mysql://db/shop?user=root&password=", "secret1", "&ssl=true"),
    ("password", "Server=db;User Id=sa;Password=", "P4ssphrase!", ";Encrypt=true"),
    ("password", "passphrase: '", "c0rrect-horse", "'"),
    ("password", "dbPass: '", "hunter2", "',"),
    ("password", "app/settings.py:12:    password = '", "hunter2", "'"),
    ("secret", "CLIENT_SECRET=", "supersecretvalue", ""),
    ("secret", "client_secret: ", body(32), ""),
    ("secret", '"clientSecret": "', body(40, URL64), '",'),
    ("secret", "JWT_SECRET='", body(20, HEX), "'"),
    ("token", '"access_token":"', body(40, URL64), '","token_type":"Bearer"'),
    ("token", "//registry.example.org/:_authToken=", "00000000-".replace("0", "a7") + body(12, HEX), ""),
    ("token", "GET /v1/x?access_token=", body(20), "&page=2 HTTP/1.1"),
    ("token", "aws_session_token = ", body(400, BASE64) + "==", ""),
    ("token", "X-Vault-Token: ", body(26), ""),
    ("token", "const token: string = '", body(24), "'"),
    ("api-key", "API_KEY=", "abc123def456", ""),
    ("api-key", "X-Api-Key: ", body(32, HEX), ""),
    ("api-key", '-H "X-API-KEY: ', body(20), '"'),
    ("api-key", "api_key: ", "550e8400-e29b-41d4-a716-446655440000", ""),
    ("api-key", "SECRET_KEY = 'django-insecure-", "", "'"),  # replaced below
    ("api-key", "RAILS_MASTER_KEY=", body(32, HEX), ""),
    ("api-key", "SECRET_KEY_BASE=", body(128, HEX), ""),
    ("api-key", "STORAGE_KEY1=", body(32), ""),
    ("api-key", "PrivateKey = ", body(43, BASE64) + "=", ""),
    ("credential", '"auth": "', body(24, BASE64) + "==", '"'),
    ("credential", '"auth": "', "dXNlcjpwYXNz", '"'),
    ("credential", "//registry.example.org/:_auth=", body(24), ""),
    ("credential", "REDISCLI_AUTH=", body(24), ""),
    ("credential", 'credentials: "', body(24), '"'),
]
TELEGRAM = body(10, DIGITS[1:]) + ":A" + "A" + body(33, URL64)
CONTEXTS = [row for row in CONTEXTS if row[2]] + [
    ("telegram-token", "bot ", TELEGRAM, " started"),
    ("api-key", "SECRET_KEY = '", "django-insecure-" + body(30, ALNUM + "$%^&*"), "'"),
]

SAMPLES = [(kind, "", secret, "") for kind, secret in TOKENS] + CONTEXTS
IDS = ["%s-%d" % (row[0], n) for n, row in enumerate(SAMPLES)]
PLAIN_KINDS = [row for row in SAMPLES if row[0] != "private-key"]  # those whose digits are of the secret just as it is spelt


def hidden(kind, secret):
    """What stands for a secret."""
    if kind == "private-key":
        secret = re.sub(r"-----[A-Z ]*-----|\\n| ", "", secret)
    return marker(kind, secret)


def redacted(text):
    out, count = ctx.redact(text.encode())
    return out.decode(), count


@pytest.mark.parametrize("kind, before, secret, after", SAMPLES, ids=IDS)
def test_a_secret_is_replaced_and_nothing_else(kind, before, secret, after):
    assert redacted(before + secret + after) == (before + hidden(kind, secret) + after, 1)


def test_every_row_of_the_tables_has_a_sample():
    found = set()
    for _, before, secret, after in SAMPLES:
        text = (before + secret + after).encode()
        for at, rule in ctx._Sieve().candidates(text):
            if rule.find(text, text.lower(), at):
                found.add(rule.rank)
    assert [rule.kind + " " + repr(rule.tail[:40]) for rule, _ in ctx._rules() if rule.rank not in found] == []


AROUND = [
    ("", ""),
    ("x = '", "'"),
    ('{"a": "', '"}'),
    ('{\\"a\\": \\"', '\\"}'),
    ("first line\\n", "\\nthird line"),
    ("first line\n", "\nthird line\n"),
    ("first line\r\n", "\r\nthird line\r\n"),
    ("https://example.org/a?t=", "&b=c"),
    ("https://example.org/a?q=a%3D", "%26b%3Dc"),
    ("\\u0026t\\u003d", "\\u0026b"),
    ("\x1b[32m", "\x1b[0m"),
    ("\x1b[01;31m\x1b[K", "\x1b[m\x1b[K rest"),
    ("\\u001b[1;32m", "\\u001b[0m"),
    ("^[[32m", "^[[0m"),
    ("(", ")"),
    ("[", "]"),
    ("<b>", "</b>"),
    ("| ", " |"),
    ("src/a.py:12:", ":x"),
    ("\u00fcber ", " \u2026"),
]


@pytest.mark.parametrize("before, after", AROUND)
def test_tokens_are_found_whatever_stands_around(before, after):
    for kind, secret in TOKENS:
        assert redacted(before + secret + after) == (before + hidden(kind, secret) + after, 1), secret


def test_bytes_that_are_no_text_stay_as_they_are():
    for kind, before, secret, after in SAMPLES:
        text = b"\xff\xfe\x00" + b" " + before.encode() + secret.encode() + after.encode() + b" \x80\xc3("
        expected = b"\xff\xfe\x00" + b" " + (before + hidden(kind, secret) + after).encode() + b" \x80\xc3("
        assert ctx.redact(text) == (expected, 1), (kind, secret)


def test_colours_inside_a_secret_stand_behind_it():
    token = "gh" + "p_" + body(36)
    shown = "a \x1b[1mgh" + "p_\x1b[0m" + token[4:] + " b"
    assert redacted(shown) == ("a \x1b[1m" + marker("github-token", token) + "\x1b[0m b", 1)


def test_a_coloured_name_still_says_that_a_secret_follows():
    assert redacted("\x1b[01;31m\x1b[Kpassword\x1b[m\x1b[K: hunter2x")[0].endswith(marker("password", "hunter2x"))


LOOK_ALIKES = [
    # hashes, ids, digests
    "commit " + body(40, HEX),
    body(12, HEX) + " fix the token parser",
    body(64, HEX) + "  dist/app.tar.gz",
    "550e8400-e29b-41d4-a716-446655440000",
    'id="3f2504e0-4f89-11d3-9a0c-0305e82c3301" request_id=3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    '"integrity": "sha512-' + body(86, BASE64) + '==",',
    'hash = "sha256:' + body(64, HEX) + '"',
    "--hash=sha256:" + body(64, HEX) + " \\",
    "github.com/pkg/errors v0.9.1 h1:" + body(43, BASE64) + "=",
    "nginx@sha256:" + body(64, HEX),
    "docker-pullable://nginx:1.25@sha256:" + body(64, HEX),
    "data:image/png;base64,iVBORw0KGgo" + body(400, BASE64) + "==",
    "ETag: \"" + body(32, HEX) + '"',
    "key: Linux-node-" + body(64, HEX),
    "cache-key-" + body(32, HEX),
    "cache_key=" + body(32, HEX),
    "primary_key: " + body(20) + "\nforeign key: 12345678901234",
    '"AWS::IAM::AccessKey": "' + body(16, HEX) + '"',
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyTestSecret-a1b2c3",
    "SHA256:" + body(43, BASE64) + " me@host (ED25519)",
    # our own words
    "run:8d8335db6848#stdout:1280-1300@1a2b3c4d  blob:8d8335db6848  repo:src/token.py:12",
    "token=run:8d8335db6848 key: blob:8d8335db6848",
    # prefixes in other words
    "risk-assessment-for-all-components-v2 task-list-item-checkbox-1 disk-usage",
    '<div class="sk-cube-grid sk-fading-circle12 sk-folding-cube-loading-animation">',
    "sk-learn-contrib-hdbscan-0.8 and sk-some-very-long-css-class-name-here",
    "XAK" + "IA" + body(16, UPPER),
    "AK" + "IA" + body(16, UPPER) + "TAIL",
    "AK" + "IA is the prefix of an access key",
    "gh" + "p_ is the prefix; gh" + "p_short; gh" + "p_" + "x" * 36,
    "gl" + "pat-your-token-goes-here-please",
    "xo" + "xb-your-slack-bot-token",
    "sk_" + "test_integration_suite sk_" + "live_mode_is_off",
    "np" + "m_config_registry np" + "m_package_dependencies_left_pad",
    "hf" + "_transformers_and_tokenizers_version_4",
    "py" + "pi-server-standalone-and-more",
    "ey" + "J.a.b ey" + "Jhbg.name.other ey" + "ja.vu.de",
    "dp" + ".pt.x dp.state.reset()",
    "S" + "G.something.else",
    "https://github.com/org/repo https://gitlab.com/global/glass glTexImage2D",
    "pul-request key-value shp_files dapi figd glsa_ 1//0 sha256~ lin_alg",
    # URLs without a password
    "https://user@host/path",
    "https://host:8080/a@b",
    "https://host:8080/@scope/pkg:1@2",
    "git@github.com:org/repo.git",
    "ssh://git@host:22/~me/x@y",
    "http://[::1]:8080/@a",
    "see http://localhost:3000 and mail me@example.org",
    "https://${USER}:${PASS}@host https://{user}:{password}@host https://user:***@host https://<user>:<pass>@host",
    "postgres://user:$PGPASSWORD@db/x postgres://user:%s@db/x",
    "file://C:/Users/me@home/x",
    "npm://a/b:c d@e",
    # public things
    "-----BEGIN CERTIFICATE-----\n" + body(64, BASE64) + "\n" + body(64, BASE64) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + body(64, BASE64) + "\n-----END PUBLIC KEY-----",
    "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n" + body(64, BASE64) + "\n=" + body(4) + "\n-----END PGP PUBLIC KEY BLOCK-----",
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t" + body(200, BASE64),
    "~/.ssh/id_rsa.pub  id_rsa  server.key  /etc/ssl/private/token.pem",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + body(200, BASE64) + " me@host",
    # code
    "password = None",
    "password=password, token=token, secret=secret)",
    "token = get_token()",
    "token = self.client.get_access_token2(user_id=17)",
    "api_key = os.environ['API_KEY_2']",
    'api_key = os.environ["API_KEY"]  # or getenv("API_KEY_V2")',
    "password: str",
    "password: Optional[str] = None, token: Token2 = Depends(get_token2)",
    "private_key: ed25519.Ed25519PrivateKey, other: int",
    'if token == "abc123def456ghi789":',
    "if (password !== other.password2) {",
    "password = input('Password: ')",
    "self.password = password",
    "secret_key: ${VAR}",
    "secret_key: ${{ secrets.SECRET_KEY_2 }}",
    "token: {{ .Values.token2 }}",
    "password: <your password here>",
    "PASSWORD=$OTHER_PASSWORD_2 TOKEN=$(get-token 2) SECRET=`cat x2`",
    "api_key: xxxxxxxx",
    "API_KEY=your-api-key-here-123",
    "PASSWORD=changeme",
    "PASSWORD=********",
    'password: "..."',
    '"password": "string", "token": "string"',
    'password: "required"',
    '"password": "Password must contain at least 8 characters and 1 digit"',
    'user_pass = "%s:%s" % (user, password)',
    "!function(e){var t=e.token,n=e.password;t.key=n.key2;return{password:n,token:t,key:e.a1}}(x);",
    'e.exports={password:"Password",token:"Token",secretKey:a.b,apiKey:r(17)}',
    "max_tokens: 4096, tokens=128000, token_count=123456789012",
    "token_id=550e8400-e29b-41d4-a716-446655440000",
    "nextToken=" + body(40) + " NextPageToken: " + body(40),
    "pad_token=<pad> eos_token: <|endoftext|>",
    "public_key=" + body(40) + " monkey=" + body(20) + " keyboard=qwertz123456",
    "ERROR_NULL_LM_PASSWORD: Final = 1304",
    '"minipass": "^7.0.3", "compass": "1.2.3", GIT_ASKPASS: "echo1!"',
    "PWD=/home/dev/project9 OLDPWD=/tmp/tmpx8k2p1",
    "TOKEN_FILE=/run/secrets/token2 secret: /run/secrets/db2 SSL_KEY_PATH=./certs/key1.pem",
    "password: 12 bytes",
    # sentences, logs, test ids
    "KeyError: 'password'",
    "ValueError: password: must be at least 8 chars",
    "sshd[812]: Failed password for invalid user admin from 10.0.0.9 port 4711 ssh2",
    "sshd[812]: Accepted publickey for dev from 10.0.0.9 port 4711 ssh2: ED25519 SHA256:" + body(43, BASE64),
    "Access denied for user 'root'@'localhost' (using password: YES)",
    "passwd: all authentication tokens updated successfully2",
    "tests/test_auth.py::test_token_expiry[password-hunter2] PASSED",
    "tests/test_auth.py::test_login[password=hunter2x-token=abc123def456ghi] FAILED",
    "--- PASS: TestF32SWithDefault (0.00s)",
    "PASS: test1.sh  FAIL: test2.sh",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer YOUR_ACCESS_TOKEN",
    "WWW-Authenticate: Basic realm=\"users1234\", Bearer error=invalid_token",
    "authorization failed: user has no role",
    "bearer token authentication is required here",
    "Cookie: theme=dark; lang=en-GB; consent=all",
    "document.cookie = name + '=' + value2;",
    "curl -u \"$USER:$PASS\" https://example.org && docker run -u 1000:1000 -p 8080:80 x && mkdir -p a1b2c3",
    "use --password to set the password, --token for a token and --api-key for a key",
    "usage: tool [--password PASSWORD] [--token TOKEN2] [--password=PASSWORD]",
    "The secret of good tests: determinism2. The key: value2. The token; the password.",
    "TypeError: Object of type Token is not JSON serializable: token=<Token object at 0x7f3a5c0d2e10>",
    "signature=invalid2 sig=1 signature: " + body(64, HEX),
    "Basic usage: Bearer of bad news1234",
    "SEC_ERROR_BAD_PASSWORD = SEC_ERROR_BASE + 15,",
    "clang -Rpass=inline2.* -Rpass-missed=regexp1",
    "Don't add login and password for non-ftp URLs.",
    "auth=plain2login:ok33 oauth2: rfc6749section4 author=j0hn.d0e123",
    # options that mean something else, or that mean it to another program
    "mysql -P3306 -h db && unzip -p archive.zip file.txt && mosquitto_pub -p 1883 -t x && ipmitool -p 6230 power status && zip -r a.zip src",
    "ldapsearch -x -W -s sub -b dc=x && ldappasswd -S uid=x && snmpwalk -v2c -a SHA256 h && grep -w word1 file && sort -k 2.3 -t : x",
    "ssh-keygen -p -f key && openssl enc -d -kfile f -iv 0 && ssh -p 2222 u@h && mkdir -p a1b2c3 && patch -p1 < x && psql -U me%40corp db",
    "curl -b cookies.txt -c cookies.txt https://h/ && curl -a https://h && http -a user example.org && wget -U 'agent:1.2' x",
    "net use && smbclient -L host -N && lftp -u me sftp://h && 7z l a.7z && htpasswd .htpasswd me && nmcli radio wifi",
    "vault login -method=oidc && cargo login && npm token list && yarn auth status && gh auth login && netlify login",
    "gh secret set NAME < file && kubectl get secrets -o yaml && secret set to value",
    "Enter pass: and pass:fail ratio; add_user(name, mail) change_password(form) my_pw = read_pw()",
    "--auth basic --auth none; use --auth TYPE, --auth=token2 to log in",
]


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_look_alike_is_left_alone(text):
    assert redacted(text) == (text, 0)


# ── private keys over several lines ──


def key_lines(label="RSA PRIVATE ", lines=4, headers=(), last=20):
    inside = [body(64, BASE64, str(n)) for n in range(lines)]
    return [PEM_START % label, *headers, *inside, body(last, BASE64) + "=", PEM_END % label]


def key_marker(lines):
    return hidden("private-key", "".join(line for line in lines[1:] if set(line) <= set(BASE64 + "=")))


def key_shown(lines, before="", after=""):
    """The redacted lines of a key whose lines all stand between `before` and `after`; its headers stay."""
    shown = [key_marker(lines)] + ["[redacted]" if ": " not in line and line else line for line in lines[1:]]
    return [before + line + after for line in shown]


KEYS = [
    key_lines(),
    key_lines("PRIVATE "),
    key_lines("OPENSSH PRIVATE ", 6),
    key_lines("EC PRIVATE ", 2),
    key_lines("ENCRYPTED PRIVATE ", 3),
    key_lines("RSA PRIVATE ", 3, ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123456789ABCDEF", ""]),
    key_lines("PRIVATE ", 0, last=10),
]


@pytest.mark.parametrize("lines", KEYS)
@pytest.mark.parametrize(
    "before, after", [("", ""), ("    ", ""), ("> ", ""), ("web_1  | ", ""), ('"', '\\n"'), ("", "\r"), ("  '", "\\n' +")]
)
def test_a_private_key_stays_as_many_lines(lines, before, after):
    text = "\n".join(["first", *(before + line + after for line in lines), "last", ""])
    expected = "\n".join(["first", *key_shown(lines, before, after), "last", ""])
    assert redacted(text) == (expected, 1)


def test_the_lines_of_a_key_may_be_numbered():
    lines = key_lines()
    for form in ("key.pem:%d:", "%6d\t", "key.pem-%d-", "2030-01-01T00:00:%02d.123Z "):
        text = "\n".join(form % n + line for n, line in enumerate(lines, 8))
        expected = "\n".join(form % n + line for n, line in enumerate(key_shown(lines), 8))
        assert redacted(text) == (expected, 1)


def test_grep_numbers_context_lines_with_a_dash():
    lines = key_lines()
    text = "\n".join("key.pem%s%d%s" % (("-", n, "-") if n > 1 else (":", n, ":")) + line for n, line in enumerate(lines, 1))
    assert redacted(text)[0].count("[redacted") == len(lines)


def test_a_key_may_begin_behind_the_name_of_a_setting():
    lines = key_lines()
    text = 'KEY="' + "\n".join(lines) + '"\nNEXT=1\n'
    assert redacted(text) == ('KEY="' + "\n".join(key_shown(lines)) + '"\nNEXT=1\n', 1)


def test_a_pgp_key_block():
    lines = ["-----BEGIN PGP PRIVATE " + "KEY BLOCK-----", "Version: 1", "", body(64, BASE64), body(30, BASE64), "=" + body(4)]
    lines.append("-----END PGP PRIVATE " + "KEY BLOCK-----")
    out, count = redacted("\n".join(lines) + "\n")
    assert count == 1 and out.splitlines()[1:] == ["Version: 1", "", "[redacted]", "[redacted]", "[redacted]", "[redacted]"]


@pytest.mark.parametrize("rest", ["", "done\nall well\n", "\nnot part of it\n", "$ ls\n"])
def test_a_key_that_was_cut_off_ends_where_other_text_begins(rest):
    lines = key_lines()[:-2]
    out, count = redacted("\n".join(lines) + "\n" + rest)
    shown = "\n".join(key_shown(lines)) + "\n"
    assert count == 1
    if rest.startswith("done"):  # which may be a short last line of base64
        out = out.replace("\n[redacted]\nall", "\ndone\nall")
        shown = "\n".join([hidden("private-key", "".join(lines[1:]) + "done"), *key_shown(lines)[1:]]) + "\n"
    assert out == shown + rest


@pytest.mark.parametrize(
    "after",
    [
        "...\n" + PEM_END % "RSA PRIVATE " + "\n",
        "<base64>\n" + PEM_END % "RSA PRIVATE ",
        PEM_END % "RSA PRIVATE ",
        "is what such a file begins with\n",
        "",
        "\n\n",
        '    return "' + PEM_END % "RSA PRIVATE " + '"',
    ],
)
def test_a_first_line_alone_is_no_key(after):
    text = PEM_START % "RSA PRIVATE " + "\n" + after
    assert redacted(text) == (text, 0)


def test_what_is_no_key_after_all_is_still_searched():
    token = "gh" + "p_" + body(36)
    text = PEM_START % "RSA PRIVATE " + "\n\n" + token + "\n"
    assert redacted(text) == (text.replace(token, marker("github-token", token)), 1)


def test_equal_keys_read_equal_however_they_are_spelt():
    lines = key_lines()
    spellings = ["\n".join(lines), "\n".join("  " + line for line in lines), "\\n".join(lines), " ".join(lines)]
    assert {re.search(r"\[redacted:private-key:\w+\]", redacted(text)[0]).group() for text in spellings} == {key_marker(lines)}


def test_an_endless_key_is_not_held():
    redactor = ctx.Redactor()
    line = (body(64, BASE64) + "\n").encode()
    out = redactor.feed((PEM_START % "PRIVATE " + "\n").encode())
    for _ in range(3000):
        out += redactor.feed(line)
        assert sum(len(held[0]) for held in redactor._key.lines) <= ctx._KEY_LIMIT + len(line)
    out += redactor.feed(b"and so on\n") + redactor.finish()
    assert redactor.count == 1 and out.count(b"\n[redacted]") == 3000 and out.endswith(b"\nand so on\n")


# ── streams ──


def cut(data, places):
    places = sorted({place % (len(data) + 1) for place in places})
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)])]


def streamed(chunks):
    redactor = ctx.Redactor()
    out = [redactor.feed(chunk) for chunk in chunks] + [redactor.finish()]
    return b"".join(out), redactor.count


@pytest.mark.parametrize("kind, before, secret, after", SAMPLES, ids=IDS)
def test_a_secret_may_lie_across_chunks(kind, before, secret, after):
    text = ("line\n" + before + secret + after + "\nline\n").encode()
    whole = ctx.redact(text)
    assert whole[1] == 1
    for at in range(len(text)):
        assert streamed([text[:at], text[at:]]) == whole


FRAGMENTS = [before + secret + after for _, before, secret, after in SAMPLES] + LOOK_ALIKES + ["\n".join(lines) for lines in KEYS]
GLUE = [" ", "\n", "\r\n", "", ":", "=", "\\n", '"', "'", "\x1b[1m", "\x1b[0m", "%3D", "]", "@", "/", ".", "-", "://"]
GLUE += ["password=", "token: ", "Authorization: "]
texts = st.lists(
    st.one_of(
        st.sampled_from(FRAGMENTS).map(str.encode),
        st.sampled_from(GLUE).map(str.encode),
        st.sampled_from(FRAGMENTS).flatmap(lambda text: st.integers(0, len(text)).map(lambda n: text[:n].encode())),
        st.binary(max_size=12),
    ),
    max_size=12,
).map(b"".join)


@given(texts, st.lists(st.integers(0, 10**6), max_size=8))
def test_chunks_do_not_matter(text, places):
    assert streamed(cut(text, places)) == ctx.redact(text)


@given(texts)
def test_single_bytes_do_not_matter(text):
    assert streamed([bytes([byte]) for byte in text]) == ctx.redact(text)


@given(texts)
def test_lines_stay_lines(text):
    assert ctx.redact(text)[0].count(b"\n") == text.count(b"\n")


@given(texts)
def test_redacting_twice_changes_nothing(text):
    once = ctx.redact(text)[0]
    assert ctx.redact(once) == (once, 0)


@given(st.text())
def test_plain_text_comes_back(text):
    assert ctx.redact_text(text).count("\n") == text.count("\n")


@pytest.fixture
def small_windows(monkeypatch):
    """Lines count as long from 4 KiB on, so that windows need no big texts."""
    monkeypatch.setattr(ctx, "_WINDOW", 4096)
    monkeypatch.setattr(ctx, "_REACH", 1024)
    monkeypatch.setattr(ctx, "_CONTEXT", 1024)
    monkeypatch.setattr(ctx, "_KEY_LIMIT", 512)


def test_a_secret_in_a_long_line_is_found_wherever_it_stands(small_windows):
    for kind, before, secret, after in SAMPLES:
        text = " " + before + secret + after + " "
        expected = " " + before + hidden(kind, secret) + after + " "
        for size in range(3072 - len(text), 3080, max(1, len(text) // 9)):
            line = "lorem " * 2000
            line = line[:size] + text + line[size:] + "\n"
            assert redacted(line)[0] == line.replace(text, expected), (kind, size)


def test_chunks_of_long_lines_do_not_matter(small_windows):
    filler = st.integers(1, 9000).map(lambda n: (b"lorem ip" * n)[:n])

    @given(st.lists(st.one_of(texts, filler), max_size=5).map(b"".join), st.lists(st.integers(0, 10**6), max_size=8))
    def check(text, places):
        assert streamed(cut(text, places)) == ctx.redact(text)
        assert ctx.redact(text)[0].count(b"\n") == text.count(b"\n")

    check()


@pytest.mark.parametrize("length", range(4094, 4099))
def test_a_line_is_long_by_itself_and_not_by_its_newline(small_windows, length):
    secret = "gh" + "p_" + body(36)
    for size in (3000, 3060, 3072, length - 40):
        line = ("lorem " * 2000)[: size - 1] + " " + secret + " "
        line = (line + "lorem " * 2000)[: max(length, len(line))]
        for text in (line, line + "\n", line + "\nnext\n"):
            whole = ctx.redact(text.encode())
            assert whole[1] == 1
            for places in ([], [length], [length - 1], [size + 5], [4096], [4096, length]):
                assert streamed(cut(text.encode(), places)) == whole


def test_an_endless_line_is_not_held():
    redactor = ctx.Redactor()
    secret = ("gh" + "p_" + body(36)).encode()
    chunk = (b"lorem ipsum " * 6000)[:65000] + b" " + secret + b" "
    length = 0
    for _ in range(320):
        length += len(redactor.feed(chunk))
        assert len(redactor._line) <= ctx._WINDOW + ctx._CONTEXT
    length += len(redactor.finish())
    assert redactor.count == 320
    assert length == 320 * (len(chunk) - len(secret) + len(marker("github-token", secret.decode())))


# ── the rest of the interface ──


def test_equal_secrets_read_equal_and_others_do_not():
    one, two = "gh" + "p_" + body(36), "gh" + "p_" + body(36, seed="2")
    lines = redacted("\n".join(["a " + one, "b " + two, "c " + one]))[0].split("\n")
    assert lines[0][2:] == lines[2][2:] != lines[1][2:]
    assert ctx.short_hash(one.encode()) == hashlib.sha256(one.encode()).hexdigest()[:6]


def test_a_salt_changes_the_digits_only():
    token = ("gh" + "p_" + body(36)).encode()
    plain, salted = ctx.redact(token)[0], ctx.redact(token, b"salt")[0]
    assert plain != salted and plain[:-7] == salted[:-7]
    redactor = ctx.Redactor(b"salt")
    assert redactor.feed(token) + redactor.finish() == salted


def test_arguments_are_redacted_as_text():
    token = "gh" + "p_" + body(36)
    command = "curl -H 'X: %s' \udcff\u00fc"
    assert ctx.redact_text(command % token) == command % marker("github-token", token)


def test_overlapping_secrets_are_one():
    token = "gh" + "p_" + body(36)
    assert redacted('password="' + token + '"') == ('password="' + marker("github-token", token) + '"', 1)
    assert redacted("https://user:" + token + "@host") == ("https://user:" + marker("github-token", token) + "@host", 1)
    both = token + ":" + body(20)
    assert redacted('password="' + both + '"') == ('password="' + marker("github-token", both) + '"', 1)


def test_nothing_is_nothing():
    assert ctx.redact(b"") == (b"", 0)
    assert ctx.redact_text("") == ""
    assert streamed([]) == (b"", 0)


def cases():
    return sorted(path.parent.name for path in CORPUS.glob("*/truth.json"))


@pytest.mark.once
@pytest.mark.parametrize("name", cases())
def test_of_real_output_only_the_secrets_are_redacted(name):
    truth = json.loads((CORPUS / name / "truth.json").read_text(encoding="utf-8"))
    for stream in ("stdout", "stderr"):
        path = CORPUS / name / stream
        data = path.read_bytes() if path.exists() else b""
        out, count = ctx.redact(data)
        for secret in truth.get("must_be_redacted", ()):
            assert secret.encode() not in out
        for text in truth.get("must_not_be_redacted", ()):
            assert text.encode() not in data or text.encode() in out
        if not truth.get("must_be_redacted"):
            assert out == data and count == 0


# ── the tables ──


def windows():
    return [(window, rule.folded) for rule, names in ctx._rules() for window in names.split()]


def test_every_window_stands_in_one_lane_and_has_four_places():
    lanes = [window for lane in ctx._LANES for window in lane.split()]
    assert len(ctx._LANES) == 8
    assert sorted(lanes) == sorted({window for window, _ in windows()})
    assert all(len(ctx._places(window, folded)) == 4 for window, folded in windows())


def test_a_window_sees_either_case_always_or_never():
    assert len({window for window, _ in windows()}) == len(set(windows()))


def repeats(pattern):
    """(least, most) of every repeat in an expression, and whether another repeat of many lengths lies inside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        todo = [sre_parse.parse(pattern)]
    while todo:
        for op, arg in todo.pop():
            name = str(op)
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                inner = list(repeats_of(arg[2]))
                yield arg[0], arg[1], any(low != high for low, high in inner)
            todo += subpatterns(arg)


def subpatterns(arg):
    if isinstance(arg, sre_parse.SubPattern):
        return [arg]
    if isinstance(arg, (tuple, list)):
        return [found for part in arg for found in subpatterns(part)]
    return []


def repeats_of(parsed):
    for op, arg in parsed:
        if str(op) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield arg[0], arg[1]
        for inner in subpatterns(arg):
            yield from repeats_of(inner)


def expressions():
    for rule, _ in ctx._rules():
        yield rule.kind, rule.tail, ctx._REACH
        if rule.head:
            yield rule.kind, rule.head, ctx._BEFORE
    yield "template", ctx._TEMPLATE, 256
    yield "placeholder", ctx._PLACEHOLDER, 256
    yield "key", ctx._KEY_BODY, 512


@pytest.mark.parametrize("kind, pattern, width", list(expressions()))
def test_expressions_are_bounded(kind, pattern, width):
    for _, most, nested in repeats(pattern):
        assert most != sre_constants.MAXREPEAT
        assert most <= 8 or not nested
    assert sre_parse.parse(pattern).getwidth()[1] <= width


def test_the_bounds_would_be_noticed():
    assert (0, sre_constants.MAXREPEAT, False) in list(repeats(rb"a[b-d]*"))
    assert (1, 9, True) in list(repeats(rb"(?:a{1,3}b){1,9}"))
    assert (1, 9, False) in list(repeats(rb"(?:a{3}b){1,9}"))


def test_a_candidate_is_looked_at_once_per_rule():
    text = b"token=" * 4000
    places = list(ctx._Sieve().candidates(text))
    assert len(places) == len(set(places)) <= 4 * 4000


@pytest.mark.parametrize("line", ["mysql --password hunter2x -u root", "curl -u bob:s3cr3tpw https://h", "docker login -p Zk29dkfj3 h",
                                  "git push https://bob:s3cr3tpw@h/x", "ls -l", "a", "x --token ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 y"])  # fmt: skip
def test_words_are_redacted_as_their_line_is(line):
    words, count = ctx.redact_words(line.split())
    assert " ".join(words) == ctx.redact_text(line) and count == ctx.redact(line.encode())[1]


@pytest.mark.parametrize(
    "line, secret",
    [
        ("x --password 'two words'", "two words"),
        ("x --password='two words' y", "two words"),
        ("x --password two\\ words", "two words"),
        ("x --token=x", "=x"),
        ("x --auth-token q7", "q7"),
        ("x -password 'it\"s'", 'it"s'),
        ("x --db.password a", " a"),
        ("env PGPASSWORD='two words' psql", "two words"),
        ("PGPASSWORD=x psql", "=x"),
        ("docker login -p 'two words' h", "two words"),
        ("twine upload -p 'two words'", "two words"),
        ("curl -u 'bob:two words' h", "two words"),
        ("curl -H 'X-Api-Key: two words'", "two words"),
        ("curl -H 'Authorization: Token abc'", "abc"),
        ("curl --oauth2-bearer abc h", "abc"),
        ("curl -d 'password=two words' h", "two words"),
        ("psql 'postgres://u:p w@h/db'", "p w"),
        ("mysql -p'two words' db", "two words"),
        ("redis-cli -a 'two words' ping", "two words"),
        ("x --api-key 'a b' --token 'c d'", "c d"),
        ("mount -o username=me,password=hunter2 //a /b", "hunter2"),
        ("kubectl create secret generic x --from-literal=password=hunter2", "hunter2"),
        ("x --passcode 1234567 --pw hunter2", "hunter2"),
        ("echo hunter2 | sudo -S ls", "hunter2"),
        ("bash -c \"echo -n 'two words' | docker login -u me --password-stdin\"", "two words"),
        ("sudo -S ls <<< hunter2", "hunter2"),
        ("chpasswd <<< 'me:two words'", "two words"),
        ("bash -c 'echo hunter2 | kinit me'", "hunter2"),
        ("smbclient //a/b -U 'me%two words'", "two words"),
        ("ldapsearch -w 'two words'", "two words"),
        ("sqlcmd -P 'two words'", "two words"),
    ],
)
def test_a_value_that_its_option_names_is_redacted_whole(line, secret):
    """Whatever it looks like, among the words of a command and in a line for a shell."""
    words, count = ctx.redact_words(shlex.split(line))
    assert secret not in " ".join(words) and count and len(words) == len(shlex.split(line))
    shown = ctx.redact_line(line)
    assert not any(part in shown for part in (secret, "two", "words")) and "[redacted:" in shown


@pytest.mark.parametrize(
    "line",
    [
        "psql --no-password db", "ansible --ask-pass host", "sort --key 2", "sort --key=2 f", "ssh --private-key ~/.ssh/id h", "env PWD=/x make",
        "x --max-token 5", "x --token $TOK", "mkdir -p x", "x --password --host h", "x --password-stdin y", "x --token-file t", "mysql --password= db",
        "pytest -p no:cacheprovider", "make tokens=5", "git commit -m 'token: a word'", "x --next-token abc", "x --password",
        "echo hello | sudo tee /etc/x", "echo 'a b' | tee x", "echo x | docker build -", "cat pw | docker login --password-stdin", "printf x | sha256sum",
    ],
)  # fmt: skip
def test_what_only_looks_like_such_an_option_stays(line):
    assert ctx.redact_words(shlex.split(line)) == (shlex.split(line), 0) and ctx.redact_line(line) == line


def test_words_stay_words():
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA9Yz".ljust(64, "Q") + "\n-----END RSA PRIVATE KEY-----"
    words, count = ctx.redact_words(["deploy", "", "--password", "hunter2x", "--key", key, "\udcff", ""])
    assert len(words) == 8 and count == 2 and words[1] == words[7] == "" and words[6] == "\udcff"
    assert words[3].startswith("[redacted:password:") and words[5].startswith("[redacted:private-key:")
