"""One schema for file, environment and flags: who wins, what is refused, and that what is printed can be read again."""

import pytest
from click.testing import CliRunner

from handler.cli.main import main
from handler.sidecar.settings import PREFIX, Settings, SettingsError, load_settings, print_settings


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "sidecar.toml"
        path.write_text(text)
        return path

    return write


def test_flags_win_over_the_environment_that_over_the_file_that_over_the_defaults(file, monkeypatch):
    path = file('port = 1\nworkers = 2\nmax_names = 3\nroots = ["/a"]\n')
    monkeypatch.setenv(f"{PREFIX}PORT", "10")
    monkeypatch.setenv(f"{PREFIX}WORKERS", "20")
    settings = load_settings(path, {"port": "100"})
    assert (settings.port, settings.workers, settings.max_names, settings.roots) == (100, 20, 3, ("/a",))
    assert settings.idle_seconds == Settings.model_fields["idle_seconds"].default


@pytest.mark.parametrize(
    ("text", "roots"), [("/a,/b", ("/a", "/b")), ('["/a", "/b"]', ("/a", "/b")), (" /a ", ("/a",))]
)
def test_a_list_in_the_environment_is_json_or_has_commas(monkeypatch, text, roots):
    monkeypatch.setenv(f"{PREFIX}ROOTS", text)
    assert load_settings(None, {}).roots == roots


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("prot = 1", "prot is not a setting"),
        ("port = 70000", "port: "),
        ('port = "x"', "port: "),
        ("port = [", "sidecar.toml"),
        ("audit_rate = 2", "audit_rate: "),
        ('host = "0.0.0.0"', "allow_anonymous"),
        ('tls_key = "k"', "belong together"),
        ('tls_client_ca = "c"', "needs tls_certificate"),
        ('secret = "a"\nsecret_file = "b"', "one of them"),
        ('secret = ""', "secret is empty"),
        ('log_level = "loud"', "log_level: "),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(file, text, words):
    with pytest.raises(SettingsError, match=words):
        load_settings(file(text), {})


def test_a_misspelt_variable_is_refused_by_name(monkeypatch):
    monkeypatch.setenv(f"{PREFIX}PROT", "1")
    with pytest.raises(SettingsError, match=f"{PREFIX}PROT is not a setting"):
        load_settings(None, {})


@pytest.mark.parametrize(
    "text", ['secret = "s3cret"', "allow_anonymous = true", 'tls_certificate = "c"\ntls_key = "k"\ntls_client_ca = "a"']
)
def test_who_listens_for_others_says_how_they_are_known(file, text):
    assert load_settings(file(f'host = "0.0.0.0"\n{text}'), {}).host == "0.0.0.0"


def test_a_secret_is_read_from_its_file_and_never_shown(tmp_path):
    (tmp_path / "secret").write_text("s3cret\n")
    assert Settings(secret_file=tmp_path / "secret").shared_secret() == b"s3cret"
    (tmp_path / "empty").write_text("\n")
    for name in ("empty", "none"):
        with pytest.raises(SettingsError):
            Settings(secret_file=tmp_path / name).shared_secret()
    settings = Settings(secret="s3cret", storage_options={"access_key": "AKIA"})
    assert "s3cret" not in print_settings(settings) + repr(settings)
    assert "AKIA" not in print_settings(settings)


def test_kerberos_is_for_hdfs_only(tmp_path):
    settings = Settings(storage_options={"tries": "2"}, kerberos_principal="a@R", kerberos_keytab=tmp_path / "k")
    kerberos = {"kerberos_principal": "a@R", "kerberos_keytab": str(tmp_path / "k")}
    assert settings.options_of("s3://b/t") == {"tries": "2"}
    assert settings.options_of("hdfs://nn/t") == settings.options_of("viewfs://v/t") == {"tries": "2", **kerberos}


def test_a_keytab_needs_a_principal(file):
    with pytest.raises(SettingsError, match="kerberos_keytab needs kerberos_principal"):
        load_settings(file('kerberos_keytab = "/k"'), {})


def test_a_misspelt_option_of_a_table_is_refused_with_the_closest_one(file):
    with pytest.raises(SettingsError, match=r"is hoodie\.index\.type meant"):
        load_settings(file('roots = ["/a"]\n[table_options."/a/t"]\n"hoodie.index.tpye" = "BUCKET"\n'), {})


def test_what_is_printed_reads_back_as_the_same_settings(file):
    given = load_settings(
        file(
            'roots = ["/a", "hdfs://nn/b"]\nport = 7\naudit_rate = 0.5\nshadow = true\n'
            'secret_file = "/etc/sargo/secret"\n'
            '[table_options."/a/t"]\n"hoodie.index.type" = "BUCKET"\n'
        ),
        {},
    )
    assert load_settings(file(print_settings(given)), {}) == given
    assert load_settings(file(print_settings(Settings())), {}) == load_settings(None, {})


def test_print_config_shows_every_setting_with_its_words():
    result = CliRunner().invoke(main, ["serve", "--roots", "/a,/b", "--no-shadow", "--print-config"])
    assert result.exit_code == 0, result.output
    assert 'roots = ["/a", "/b"]' in result.output
    for name, field in Settings.model_fields.items():
        assert name in result.output
        assert f"# {field.description}." in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ["--port", "x", "--roots", "/"],
        [],
        ["--config", "/none"],
        ["--secret", "a"],
        ["--roots", "relative", "--port", "0"],
    ],
    ids=str,
)
def test_serve_with_bad_settings_ends_with_one_line(arguments):
    result = CliRunner().invoke(main, ["serve", *arguments])
    assert result.exit_code == 2
    assert result.stderr.startswith("sargo: ")
    assert result.stderr.count("\n") == 1
