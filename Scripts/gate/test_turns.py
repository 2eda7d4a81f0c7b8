"""The rule of turns."""
import random
import unittest

import parts as table
import turns
from turns import Turn


class TurnTests(unittest.TestCase):
    def test_a_line_is_read_as_it_is_written(self):
        turn = Turn("2026-11-27", 21.4, ["network", "command"], ["release"], "the machine was slow: twice")
        self.assertEqual(Turn.parse(turn.line()), turn)
        with self.assertRaises(ValueError):
            Turn.parse("2026-11-27 network")

    def test_what_was_owed_is_first_then_what_changed_then_what_waited_longest(self):
        known = [Turn("1", 20, ["network", "command"]), Turn("2", 20, ["macros"], ["release"])]
        taken, owed = turns.choose(table.PARTS, known, ["Tests/WebServers/README.md"], 10)
        self.assertEqual(taken[:2], ["release", "web-servers"])
        self.assertNotIn("macros", taken + owed)

    def test_what_would_take_a_run_beyond_the_cap_is_owed_to_the_next_one(self):
        files = [path for part in table.PARTS for path in part.paths]
        taken, owed = turns.choose(table.PARTS, [], files, table.BASE_MINUTES)
        minutes = {part.name: part.minutes for part in table.PARTS}
        self.assertLessEqual(table.BASE_MINUTES + sum(minutes[name] for name in taken), turns.CAP)
        self.assertTrue(owed)
        again, _ = turns.choose(table.PARTS, [Turn("1", 40, taken, owed)], [], table.BASE_MINUTES)
        self.assertEqual(again[0], owed[0])

    def test_no_part_is_missed_for_more_than_five_landings_in_a_row(self):
        for seed in range(20):
            generator = random.Random(seed)
            paths = [path for part in table.PARTS for path in part.paths] + ["Sources/ObjectGraph/"] * 20
            future = turns.simulate(table.PARTS, [], 60, lambda _: generator.sample(paths, generator.randint(0, 4)), table.BASE_MINUTES)
            self.assertLessEqual(max(turns.longest_waits(table.PARTS, future).values()), turns.MOST_MISSED, f"seed {seed}")

    def test_every_path_of_the_table_exists(self):
        import repository
        for part in table.PARTS:
            for path in part.paths:
                folder, _, start = path.rpartition("/")
                found = list((repository.ROOT / folder).glob(start + "*")) if start else [repository.ROOT / folder]
                self.assertTrue(any(item.exists() for item in found), f"{part.name}: {path}")


if __name__ == "__main__":
    unittest.main()
