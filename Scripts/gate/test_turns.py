"""The rule of turns."""
import json
import os
import random
import subprocess
import unittest

import parts as table
import repository
import turns
from parts import Part
from turns import Turn


class TurnTests(unittest.TestCase):
    def test_a_line_is_read_as_it_is_written(self):
        turn = Turn("2026-11-27", 21.4, ["network", "command"], ["release"], "the machine was slow: twice")
        self.assertEqual(Turn.parse(turn.line()), turn)
        with self.assertRaises(ValueError):
            Turn.parse("2026-11-27 network")

    def test_what_was_owed_and_what_changed_is_taken_then_what_waited_longest(self):
        known = [Turn("1", 20, ["network", "command"]), Turn("2", 20, ["macros"], ["release"])]
        taken, owed = turns.choose(table.PARTS, known, ["Tests/WebServers/Tests/WebServerTests/KintoTests.swift"], 10)
        self.assertIn("release", taken)
        self.assertIn("web-servers", taken)
        self.assertNotIn("macros", taken + owed)

    def test_what_waited_longest_is_taken_only_as_far_as_the_aim_allows(self):
        parts = [Part("a", "", 10), Part("b", "", 10), Part("c", "", 4)]
        known = [Turn("1", 20, ["c"]), Turn("2", 20, ["b"]), Turn("3", 20, ["a"])]
        self.assertEqual(turns.choose(parts, known, [], 12), (["c"], []))
        self.assertEqual(turns.choose(parts, known, [], 8), (["c", "b"], []))

    def test_what_would_take_a_run_beyond_the_cap_is_owed_to_the_next_one(self):
        files = [path for part in table.PARTS for path in part.paths]
        taken, owed = turns.choose(table.PARTS, [], files, table.BASE_MINUTES)
        minutes = {part.name: part.minutes for part in table.PARTS}
        self.assertLessEqual(table.BASE_MINUTES + sum(minutes[name] for name in taken), turns.CAP)
        self.assertTrue(owed)
        again, _ = turns.choose(table.PARTS, [Turn("1", 40, taken, owed)], [], table.BASE_MINUTES)
        self.assertEqual(again[0], owed[0])

    def test_where_many_have_waited_too_long_what_has_changed_is_taken_beside_them(self):
        parts = [Part(name, "", 9) for name in "abcdef"] + [Part("g", "", 5, paths=("Sources/",)), Part("h", "", 5)]
        known = [Turn(str(number), 10, ["g", "h"]) for number in range(9)]
        for _ in range(6):
            taken, owed = turns.choose(parts, known, ["Sources/x.swift"], 5)
            self.assertIn("g", taken)
            self.assertEqual(owed, [])
            self.assertLessEqual(len(taken), 3)
            known.append(Turn("next", 24, taken))
        self.assertLessEqual(max(turns.waits(parts, known).values()), turns.MOST_MISSED)

    def test_no_part_is_missed_for_more_than_five_landings_in_a_row(self):
        for seed in range(20):
            generator = random.Random(seed)
            paths = [path for part in table.PARTS for path in part.paths] + ["Sources/ObjectGraph/"] * 20
            future = turns.simulate(table.PARTS, [], 60, lambda _: generator.sample(paths, generator.randint(0, 4)), table.BASE_MINUTES)
            self.assertLessEqual(max(turns.longest_waits(table.PARTS, future).values()), turns.MOST_MISSED, f"seed {seed}")

    def test_the_paths_of_a_part_that_follows_its_targets_are_all_that_these_are_built_of(self):
        words = ["swift", "package", "dump-package"]
        dumped = subprocess.run(words, cwd=repository.ROOT, capture_output=True, check=True, env={**os.environ, "COREDATA_TARGETS": ""}).stdout
        targets = {target["name"]: target for target in json.loads(dumped)["targets"]}
        for part in table.PARTS:
            waiting, seen = list(part.targets if part.follows_targets else ()), set()
            while waiting:
                name = waiting.pop()
                if name in seen or name not in targets:
                    continue
                seen.add(name)
                target = targets[name]
                path = target.get("path") or ("Tests/" if target["type"] == "test" else "Sources/") + name
                self.assertTrue((path + "/").startswith(part.paths), f"{part.name}: {name} in {path}")
                for dependency in target["dependencies"]:
                    waiting += [value[0] for value in dependency.values() if isinstance(value, list)]

    def test_every_path_of_the_table_exists(self):
        for part in table.PARTS:
            for path in part.paths:
                folder, _, start = path.rpartition("/")
                found = list((repository.ROOT / folder).glob(start + "*")) if start else [repository.ROOT / folder]
                self.assertTrue(any(item.exists() for item in found), f"{part.name}: {path}")


if __name__ == "__main__":
    unittest.main()
