"""kvsd emulator exec -- python3 -m unittest discover -s Examples/python"""
import datetime
import itertools
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile
import time
import unittest
import urllib.request
from unittest import mock

from replica import Replica


class ReplicaTests(unittest.TestCase):
    def setUp(self):
        self.world = f"python-{secrets.token_hex(8)}"

    def environment(self, device, **variables):
        return {**os.environ, "UBIQUITY_TOKEN": f"{self.world}/{device}", **variables}

    def device(self, name, store="default", **variables):
        with mock.patch.dict(os.environ, self.environment(name, **variables)):
            return Replica(store)

    def test_devices_of_a_world_converge(self):
        phone, desk = self.device("phone"), self.device("desk")
        phone.set("colour", "green")
        desk.set("size", 7)
        for replica in (phone, desk, phone):
            replica.sync()
        self.assertEqual(phone.values(), {"colour": "green", "size": 7})
        self.assertEqual(desk.values(), phone.values())
        self.assertEqual(phone.pending, {})

    def test_every_type_of_property_list_arrives(self):
        values = {
            "text": "Grüße 👋", "integer": -(2**63), "double": 0.5, "bool": True, "data": b"\0\xff",
            "date": datetime.datetime(2026, 9, 18, 12), "array": [1, "b", [False]],
            "dictionary": {"é": {"a": 1}}, "Schlüssel/1": "", "e\u0301": 1, "\u00e9": 2,
        }
        phone, desk = self.device("phone"), self.device("desk")
        for key, value in values.items():
            phone.set(key, value)
        phone.sync()
        desk.sync()
        self.assertEqual(desk.values(), values)
        self.assertIs(desk.values()["bool"], True)

    def test_the_later_write_wins_in_whichever_order_they_are_sent(self):
        now = time.time()
        for order in itertools.permutations(("early", "late")):
            self.setUp()
            devices = {name: self.device(name) for name in ("early", "late")}
            for seconds, (name, replica) in enumerate(devices.items()):
                with mock.patch("time.time", return_value=now + seconds):
                    replica.set("key", name)
            for name in order + order:
                devices[name].sync()
            for replica in devices.values():
                self.assertEqual(replica.values(), {"key": "late"}, order)

    def test_a_write_wins_over_what_its_author_has_seen(self):
        phone, desk = self.device("phone"), self.device("desk")
        phone.set("key", 1)
        phone.sync()
        desk.sync()
        with mock.patch("time.time", return_value=0):
            desk.set("key", 2)
        desk.sync()
        phone.sync()
        self.assertEqual(phone.values(), {"key": 2})

    def test_removals_reach_other_devices_and_give_way_to_later_writes(self):
        phone, desk = self.device("phone"), self.device("desk")
        phone.set("gone", 1)
        phone.set("kept", 1)
        phone.sync()
        desk.sync()
        phone.remove("gone")
        phone.remove("kept")
        now = time.time()
        with mock.patch("time.time", return_value=now + 1):
            desk.set("kept", 2)
        self.assertEqual(phone.values(), {})
        for replica in (desk, phone, desk):
            replica.sync()
        self.assertEqual(phone.values(), {"kept": 2})
        self.assertEqual(desk.values(), {"kept": 2})
        self.assertEqual(self.downloaded(), {"kept": 2})

    def downloaded(self):
        replica = self.device("new")
        replica.sync()
        return replica.values()

    def test_worlds_and_stores_are_separate(self):
        phone, notes = self.device("phone"), self.device("phone", store="notes")
        phone.set("key", 1)
        phone.sync()
        notes.sync()
        self.assertEqual(notes.values(), {})
        self.setUp()
        self.assertEqual(self.downloaded(), {})

    def test_stamps_ahead_of_the_daemon_are_issued_again(self):
        phone, desk, now = self.device("phone"), self.device("desk"), time.time
        desk.set("a", 0)
        desk.sync()
        with mock.patch("time.time", lambda: now() + 3600):
            phone.set("a", 1)
            phone.set("b", 1)
            phone.sync()
            self.assertEqual(phone.pending, {})
            phone.set("a", 2)
            phone.sync()
        desk.sync()
        self.assertEqual(desk.values(), {"a": 2, "b": 1})
        milliseconds = int(desk.records["a"]["stamp"][:12], 16)
        self.assertLess(abs(milliseconds / 1000 - now()), 60)
        desk.set("a", 3)
        desk.sync()
        phone.sync()
        self.assertEqual(phone.values(), {"a": 3, "b": 1})

    def test_more_than_a_page_is_sent_and_downloaded(self):
        phone = self.device("phone")
        for number in range(1100):
            phone.set(str(number), number)
        phone.sync()
        desk = self.device("desk")
        desk.set("1", "one")
        desk.sync()
        self.assertEqual(desk.values(), {**phone.values(), "1": "one"})
        self.assertEqual(desk.pending, {})
        self.assertEqual(self.downloaded(), desk.values())

    def test_a_reset_world_keeps_what_was_not_sent(self):
        phone = self.device("phone")
        phone.set("sent", 1)
        phone.sync()
        phone.set("unsent", 1)
        administration = os.environ["UBIQUITY_EMULATOR"]
        urllib.request.urlopen(
            urllib.request.Request(f"{administration}/worlds/{self.world}", method="DELETE")).close()
        phone.sync()
        self.assertEqual(phone.values(), {"unsent": 1})
        self.assertEqual(self.downloaded(), {"unsent": 1})

    def test_a_refused_value_is_an_error_until_it_is_replaced(self):
        phone = self.device("phone")
        phone.set("small", 1)
        phone.set("large", b"\0" * 1_100_000)
        for _ in range(2):
            with self.assertRaisesRegex(ValueError, "'large': 'quota'"):
                phone.sync()
        phone.set("large", b"\0")
        phone.sync()
        self.assertEqual(self.downloaded(), {"small": 1, "large": b"\0"})

    def test_the_emulator_is_found_by_its_file(self):
        file = json.dumps({"url": os.environ["UBIQUITY_DAEMON"], "processID": os.getpid()})
        with tempfile.TemporaryDirectory() as home:
            variables = {
                "UBIQUITY_DATA_DIR": {"UBIQUITY_DATA_DIR": f"{home}/data"},
                "XDG_DATA_HOME": {"UBIQUITY_DATA_DIR": "", "XDG_DATA_HOME": home},
                "HOME": {"UBIQUITY_DATA_DIR": "", "XDG_DATA_HOME": "", "HOME": home},
            }
            for directory in ("data", "ubiquity", ".local/share/ubiquity"):
                pathlib.Path(home, directory).mkdir(parents=True)
                pathlib.Path(home, directory, "emulator.json").write_text(file)
            for name, environment in variables.items():
                phone = self.device("phone", UBIQUITY_DAEMON="emulator", **environment)
                phone.set("found by", name)
                phone.sync()
                self.assertEqual(self.downloaded(), {"found by": name})

    @unittest.skipUnless(shutil.which("kvs"), "kvs is not in PATH")
    def test_values_are_exchanged_with_kvs(self):
        def kvs(*arguments):
            return subprocess.run(
                ["kvs", *arguments, "--timeout", "120"], env=self.environment("desk"), check=True,
                capture_output=True, text=True).stdout

        phone = self.device("phone")
        kvs("set", "colour", "grün", "--require-sync")
        kvs("set", "size", "7", "--int", "--require-sync")
        phone.sync()
        self.assertEqual(phone.values(), {"colour": "grün", "size": 7})
        phone.set("colour", "rot")
        phone.set("list", [1, {"é": 2.5}])
        phone.remove("size")
        phone.sync()
        self.assertEqual(kvs("get", "colour", "--fresh", "--raw"), "rot")
        array = json.loads(kvs("get", "list", "--json"))
        self.assertEqual((array["type"], [element["type"] for element in array["value"]]),
                         ("array", ["integer", "dictionary"]))
        self.assertEqual(kvs("ls").split(), ["colour", "list"])


if __name__ == "__main__":
    unittest.main()
