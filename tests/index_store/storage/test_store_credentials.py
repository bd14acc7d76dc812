"""Where credentials come from, and what the store is sent: each way that docs/guides/object-stores.md calls tried."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time

import pytest

from index_store import TableError
from index_store.storage import object_stores
from index_store.storage.aws_credentials import looked_up
from index_store.storage.storage import Storage
from index_store.storage.storage_options import read_options
from tests.s3.dialects import ACCOUNT, Azure, Google, Recording
from tests.s3.store import BUCKET, running
from tests.s3.tokens import giving

VARIABLES = re.compile(r"(AWS|AZURE|GOOGLE|GCE|GCS|IDENTITY|MSI|STORAGE_EMULATOR|CLOUD)_")


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """No credentials of this machine."""
    for name in list(os.environ):
        if VARIABLES.match(name):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture(scope="module")
def s3(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3"), Recording) as store:
        yield filled(store)


@pytest.fixture(scope="module")
def google(tmp_path_factory):
    with running(tmp_path_factory.mktemp("google"), Google) as store:
        yield filled(store)


@pytest.fixture(scope="module")
def azure(tmp_path_factory):
    with running(tmp_path_factory.mktemp("azure"), Azure) as store:
        yield filled(store)


def filled(store):
    (store.bucket / "t").mkdir()
    (store.bucket / "t" / "f").write_bytes(b"content")
    return store


@pytest.fixture
def tokens():
    with giving() as found:
        yield found


def sent(store, storage, tmp_path=None):
    """The headers of a read, or of a write; what is read is checked."""
    store.server.headers.clear()
    if tmp_path is None:
        assert storage.read("f") == b"content"
    else:
        (tmp_path / "new").write_bytes(b"new")
        storage.change("new", lambda: storage.client.write(f"{BUCKET}/t/new", tmp_path / "new"))
    return store.server.headers[-1]


def at_s3(store, **options):
    place = {"endpoint": f"http://127.0.0.1:{store.port}", "region": "us-east-1", "tries": "1"}
    return Storage.at(f"s3://{BUCKET}/t", None, {**place, **options})


def at_google(store, **options):
    place = {"endpoint": f"http://127.0.0.1:{store.port}", "tries": "1"}
    return Storage.at(f"gs://{BUCKET}/t", None, {**place, **options})


def at_azure(store, **options):
    place = {"endpoint": f"http://127.0.0.1:{store.port}", "tries": "1"}
    return Storage.at(f"abfss://{BUCKET}@{ACCOUNT}.dfs.core.windows.net/t", None, {**place, **options})


def key_of(headers):
    """The access key, and the session token, of a signed request."""
    found = re.search(r"Credential=([^/]+)/", headers.get("authorization", ""))
    return found[1] if found else "", headers.get("x-amz-security-token", "")


# -- S3: keys


def test_given_keys_are_sent_without_the_session_token_of_the_environment(s3, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secretenv")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "tokenenv")
    assert key_of(sent(s3, at_s3(s3))) == ("AKIAENV", "tokenenv")
    assert key_of(sent(s3, at_s3(s3, access_key="AKIAOPT", secret_key="s"))) == ("AKIAOPT", "")
    given = at_s3(s3, access_key="AKIAOPT", secret_key="s", session_token="tokenopt")
    assert key_of(sent(s3, given)) == ("AKIAOPT", "tokenopt")
    assert "authorization" not in sent(s3, at_s3(s3, anonymous="true"))
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    assert "authorization" not in sent(s3, at_s3(s3))
    assert key_of(sent(s3, at_s3(s3, access_key="AKIAOPT", secret_key="s"))) == ("AKIAOPT", "")


def profiles(home, text, file="credentials"):
    (home / ".aws").mkdir(exist_ok=True)
    (home / ".aws" / file).write_text(text, encoding="utf-8")


def test_keys_of_a_profile(s3, bare, monkeypatch):
    profiles(
        bare,
        "[default]\naws_access_key_id = AKIADEFAULT\naws_secret_access_key = s\n"
        "[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key=s%x\naws_session_token = worktoken\n",
    )
    profiles(bare, "[profile other]\naws_access_key_id=AKIAOTHER\naws_secret_access_key=s\n", "config")
    assert key_of(sent(s3, at_s3(s3))) == ("AKIADEFAULT", "")
    assert key_of(sent(s3, at_s3(s3, profile="work"))) == ("AKIAWORK", "worktoken")
    monkeypatch.setenv("AWS_PROFILE", "other")
    assert key_of(sent(s3, at_s3(s3))) == ("AKIAOTHER", "")
    assert key_of(sent(s3, at_s3(s3, profile="work"))) == ("AKIAWORK", "worktoken")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAENV")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secretenv")
    assert key_of(sent(s3, at_s3(s3))) == ("AKIAENV", "")
    assert key_of(sent(s3, at_s3(s3, profile="work"))) == ("AKIAWORK", "worktoken")


@pytest.mark.parametrize(
    ("text", "profile", "why"),
    [
        ("[a]\n", "b", "there is no AWS profile b"),
        ("[a]\nregion = x\n", "a", "the AWS profile a holds no keys"),
        (
            "[a]\nrole_arn = r\nsource_profile = b\naws_access_key_id=K\naws_secret_access_key=s",
            "a",
            "another way to them",
        ),
        ("[a]\ncredential_process = /bin/x\n", "a", "name it in AWS_PROFILE"),
        ("this is no INI file SECRET\n", "a", "is no INI file$"),
    ],
)
def test_a_profile_without_keys_is_said(s3, bare, text, profile, why):
    profiles(bare, text)
    with pytest.raises(TableError, match=why) as caught:
        at_s3(s3, profile=profile)
    assert "SECRET" not in str(caught.value)


def test_a_role_to_take_on_is_read_through_pyarrow(bare):
    profiles(bare, "[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = keys\n", "config")
    assert looked_up("") is None
    options = read_options("s3", {"role_arn": "arn:aws:iam::1:role/r"})
    assert object_stores.s3_client(BUCKET, "", "us-east-1", None, options) is None


def test_what_pyarrow_cannot_send_is_refused(s3):
    for more in ({"request_payer": "true"}, {"server_side_encryption": "AES256"}):
        with pytest.raises(TableError, match="need keys, not a role"):
            at_s3(s3, role_arn="arn:aws:iam::1:role/r", **more)


# -- S3: roles


def machine(tokens, monkeypatch):
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", tokens.url)


def container(tokens, monkeypatch):
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{tokens.url}/container")
    path = os.path.join(os.environ["HOME"], "token")
    with open(path, "w", encoding="utf-8") as file:
        file.write("Bearer of-the-pod")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path)


@pytest.mark.parametrize("way", [machine, container])
def test_credentials_of_a_role_are_fetched_once_and_renewed_before_they_end(s3, tokens, monkeypatch, way):
    way(tokens, monkeypatch)
    storage = at_s3(s3)
    assert key_of(sent(s3, storage)) == (tokens.newest, f"token-of-{tokens.newest}")
    asked = len(tokens.asked)
    sent(s3, storage.afresh())
    assert (tokens.given, len(tokens.asked)) == (1, asked)
    if way is machine:
        assert tokens.asked[-1][3]["x-aws-ec2-metadata-token"] == "imds-session"
    else:
        assert tokens.asked[-1][3]["authorization"] == "Bearer of-the-pod"


@pytest.mark.parametrize("way", [machine, container])
def test_a_process_that_lives_longer_than_its_credentials_takes_new_ones(s3, tokens, monkeypatch, way):
    """The store knows only the newest key, as after an expiry."""
    way(tokens, monkeypatch)
    tokens.life = 2.0  # less than the five minutes before the end in which obstore asks anew
    storage = at_s3(s3, tries="4")
    s3.server.allowed = lambda headers: key_of(headers)[0] == tokens.newest
    try:
        for _ in range(3):
            sent(s3, storage.afresh())
        first = tokens.given
        tokens.given += 10  # all keys until now have ended
        s3.server.refusal = (400, "ExpiredToken", "The provided token has expired.")
        for _ in range(200):
            if tokens.given > first + 10:
                break
            time.sleep(0.02)  # for a tenth of a second obstore asks for no new token
            try:
                sent(s3, storage.afresh())
            except TableError as error:
                assert "the session's token has expired: renew the credentials" in str(error)  # noqa: PT017
        assert key_of(sent(s3, storage.afresh()))[0] == tokens.newest
    finally:
        s3.server.allowed = bool


@pytest.mark.parametrize("way", [machine, container])
@pytest.mark.parametrize("status", [403, 404])
def test_a_service_that_gives_no_credentials_is_said_as_such(s3, tokens, monkeypatch, way, status):
    way(tokens, monkeypatch)
    tokens.broken = status
    with pytest.raises(TableError, match=rf"t/f: .*there are no credentials, .*HTTP status {status}") as caught:
        at_s3(s3).read("f")
    assert "127.0.0.1" not in str(caught.value)
    assert len(tokens.asked) == 1


# -- S3: what is sent


@pytest.mark.parametrize(
    ("options", "read", "written"),
    [
        ({"requester_pays": "true"}, {"x-amz-request-payer": "requester"}, {"x-amz-request-payer": "requester"}),
        ({"aws_request_payer": "requester"}, {"x-amz-request-payer": "requester"}, {}),
        ({"fs.s3a.requester.pays.enabled": "true"}, {"x-amz-request-payer": "requester"}, {}),
        ({"server_side_encryption": "AES256"}, {}, {"x-amz-server-side-encryption": "AES256"}),
        (
            {"fs.s3a.encryption.algorithm": "SSE-KMS", "sse_kms_key_id": "k1", "sse_bucket_key": "true"},
            {},
            {
                "x-amz-server-side-encryption": "aws:kms",
                "x-amz-server-side-encryption-aws-kms-key-id": "k1",
                "x-amz-server-side-encryption-bucket-key-enabled": "true",
            },
        ),
        (
            {"sse_customer_key_base64": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},
            {"x-amz-server-side-encryption-customer-algorithm": "AES256"},
            {"x-amz-server-side-encryption-customer-key": "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},
        ),
    ],
    ids=str,
)
def test_encryption_and_who_pays(s3, tmp_path, options, read, written):
    storage = at_s3(s3, access_key="AKIA", secret_key="s", **options)
    found = sent(s3, storage)
    assert read.items() <= found.items()
    assert read or not any("encryption" in name or "payer" in name for name in found)
    assert written.items() <= sent(s3, storage, tmp_path).items()


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"server_side_encryption": "rot13"}, "is none of AES256"),
        ({"server_side_encryption": "sse-c"}, "sse_customer_key and the encryption sse-c go together"),
        ({"server_side_encryption": "AES256", "sse_kms_key_id": "k"}, "sse_kms_key_id and the encryption aws:kms"),
        ({"request_payer": "perhaps"}, "neither true nor false"),
    ],
)
def test_options_that_do_not_go_together_are_refused(s3, options, why):
    with pytest.raises(TableError, match=why):
        at_s3(s3, access_key="AKIA", secret_key="s", **options)


def test_path_style_and_virtual_hosted_style(s3):
    keys = {"access_key": "AKIA", "secret_key": "s"}
    with s3.answering():
        sent(s3, at_s3(s3, **keys))
        assert s3.take()[0]["path"] == f"/{BUCKET}/t/f"
    # no name below 127.0.0.1 resolves, so only what would be asked is looked at
    hosted = at_s3(s3, **keys, path_style="false").client._store.config
    assert hosted["endpoint"] == f"http://{BUCKET}.127.0.0.1:{s3.port}"
    assert hosted["virtual_hosted_style_request"] in (True, "true")


def test_a_secret_that_cannot_be_sent_is_refused_and_not_shown(s3, google, azure):
    """obstore ends with a panic, which is no Exception, when a header holds a line break."""
    assert sent(google, at_google(google, access_token="ya29.given\n"))["authorization"] == "Bearer ya29.given"
    for opened in (
        lambda: at_google(google, access_token="bad\nSECRET"),
        lambda: at_azure(azure, account_key="no base64 SECRET!"),
        lambda: at_s3(s3, access_key="AKIA", secret_key="s", sse_customer_key="SECRET!"),
    ):
        with pytest.raises(TableError, match=r"cannot be sent|is not base64") as caught:
            opened()
        assert "SECRET" not in str(caught.value)


# -- Google


def test_tokens_of_google(google, tmp_path, monkeypatch):
    found = at_google(google, access_token="ya29.given", user_project="payer")
    for headers in (sent(google, found), sent(google, found, tmp_path)):
        assert headers["authorization"] == "Bearer ya29.given"
        assert headers["x-goog-user-project"] == "payer"
    monkeypatch.setenv("GOOGLE_BEARER_TOKEN", "of-the-environment")
    assert sent(google, found)["authorization"] == "Bearer ya29.given"
    assert "authorization" not in sent(google, at_google(google, anonymous="true"))
    assert "authorization" not in sent(google, at_google(google))


def google_key(folder, kind, **more):
    path = folder / f"{kind}.json"
    path.write_text(json.dumps({"type": kind, **more}), encoding="utf-8")
    return str(path)


def test_key_files_of_google(google, bare, monkeypatch):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(65537, 2048)
    kinds = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    text = key.private_bytes(*kinds).decode()
    path = google_key(
        bare, "service_account", private_key=text, private_key_id="1", client_email="a@b.iam", token_uri="https://x"
    )
    found = sent(google, at_google(google, key_file=path))["authorization"]
    assert re.fullmatch(r"Bearer eyJ[\w.-]+", found)  # signed by this machine, nobody is asked
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
    assert "authorization" not in sent(google, at_google(google)), "no login of the machine goes to http://"
    other = google_key(bare, "external_account")
    with pytest.raises(TableError, match="another kind: name it in GOOGLE_APPLICATION_CREDENTIALS"):
        at_google(google, key_file=other)
    with pytest.raises(TableError, match="the file with credentials cannot be read: /nonexistent"):
        at_google(google, key_file="/nonexistent")
    (bare / "bad").write_text("no json SECRET")
    with pytest.raises(TableError, match="is no JSON") as caught:
        at_google(google, key_file=str(bare / "bad"))
    assert "SECRET" not in str(caught.value)


def test_the_machine_of_google(tokens, monkeypatch):
    """Its token is asked for, once; without an endpoint, since an endpoint stands for a server without a login."""
    for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP"):
        monkeypatch.setenv(name, tokens.url.partition("//")[2])
    client = object_stores.gcs_client(BUCKET, "", read_options("gs", {}))
    tokens.broken = 404
    with pytest.raises(OSError, match=r"there are no credentials, .*HTTP status 404"):
        client.whole(f"{BUCKET}/t/f", 100)
    assert tokens.asked[-1][1].startswith("/computeMetadata/v1/instance/service-accounts/default/token")


def test_impersonation_and_other_kinds_of_google_are_read_through_pyarrow(google, bare, monkeypatch):
    other = google_key(bare, "external_account")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", other)
    assert object_stores.gcs_client(BUCKET, "", read_options("gs", {})) is None
    assert object_stores.gcs_client(BUCKET, "", read_options("gs", {"service_account": "a@b"})) is None


# -- Azure


def test_keys_and_tokens_of_azure(azure, monkeypatch):
    monkeypatch.setenv("AZURE_STORAGE_TOKEN", "of-the-environment")
    monkeypatch.setenv("AZURE_STORAGE_KEY", "ZW52aXJvbm1lbnQ=")
    assert sent(azure, at_azure(azure))["authorization"].startswith(f"SharedKey {ACCOUNT}:")
    key = sent(azure, at_azure(azure, account_key="a2V5a2V5"))["authorization"]
    assert key.startswith(f"SharedKey {ACCOUNT}:")
    assert sent(azure, at_azure(azure, access_token="eyJ.given"))["authorization"] == "Bearer eyJ.given"
    for sas in ("sv=2024-01-01&sig=a%3D", "?sv=2024-01-01&sig=a%3D"):
        azure.take()
        assert "authorization" not in sent(azure, at_azure(azure, sas_token=sas))
    assert "authorization" not in sent(azure, at_azure(azure, anonymous="true"))


def principal(tokens, monkeypatch, folder):
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", tokens.url)
    return {"client_id": "c1", "client_secret": "s1secret", "tenant_id": "t1"}


def managed(tokens, monkeypatch, folder):
    monkeypatch.setenv("IDENTITY_ENDPOINT", f"{tokens.url}/msi")
    monkeypatch.setenv("IDENTITY_HEADER", "of-the-app")
    return {"client_id": "c1"}


def workload(tokens, monkeypatch, folder):
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", tokens.url)
    (folder / "token").write_text("jwt.of.pod")
    for name, value in (("FEDERATED_TOKEN_FILE", str(folder / "token")), ("CLIENT_ID", "c1"), ("TENANT_ID", "t1")):
        monkeypatch.setenv(f"AZURE_{name}", value)
    return {}


@pytest.mark.parametrize("way", [principal, managed, workload])
def test_tokens_that_azure_gives_out(azure, tokens, monkeypatch, bare, way):
    options = way(tokens, monkeypatch, bare)
    storage = at_azure(azure, **options)
    assert sent(azure, storage)["authorization"] == f"Bearer {tokens.newest}"
    sent(azure, storage.afresh())
    assert tokens.given == 1
    method, path, form, headers = tokens.asked[-1]
    if way is managed:
        assert (method, headers["x-identity-header"]) == ("GET", "of-the-app")
        assert "client_id=c1" in path
    else:
        assert (method, path, form["client_id"]) == ("POST", "/t1/oauth2/v2.0/token", "c1")
        assert {"s1secret", "jwt.of.pod"} & set(form.values())


@pytest.mark.parametrize("way", [principal, managed, workload])
def test_a_login_of_azure_that_fails_is_said_as_such(azure, tokens, monkeypatch, bare, way):
    options = way(tokens, monkeypatch, bare)
    tokens.broken = 401
    with pytest.raises(TableError, match=r"t/f: .*there are no credentials, .*HTTP status 401, it is broken") as caught:
        at_azure(azure, **options).read("f")
    assert "s1secret" not in str(caught.value)
    assert "127.0.0.1" not in str(caught.value)


def test_the_login_of_the_command_line_of_azure(azure, bare, monkeypatch):
    (bare / ".azure").mkdir()
    (bare / ".azure" / "azureProfile.json").write_text("{}")
    az = bare / "az"
    answer = {"accessToken": "of-az", "expiresOn": "2099-01-01 00:00:00.000000", "expires_on": 4070908800}
    answer |= {"subscription": "s", "tenant": "t", "tokenType": "Bearer"}
    az.write_text(f"#!{sys.executable}\nprint({json.dumps(json.dumps(answer))})\n")
    az.chmod(az.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{bare}{os.pathsep}{os.environ['PATH']}")
    assert sent(azure, at_azure(azure))["authorization"] == "Bearer of-az"
