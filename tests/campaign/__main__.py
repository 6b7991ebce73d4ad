"""Run the whole campaign, or parts of it, and print its table."""

import argparse
import sys
import time

from tests.campaign import functions, pieces
from tests.campaign.outcomes import Tally
from tests.campaign.parts import PARTS
from tests.campaign.subjects import subjects


def main() -> int:
    """Print what was tried, answered, refused clearly, and every defect."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all without any")
    parser.add_argument("--only", default="", help="estimators whose name holds this")
    parser.add_argument("--defaults", action="store_true", help="without the variants")
    options = parser.parse_args()
    chosen = [s for s in subjects(variants=not options.defaults) if options.only in s.name]
    tallies = []
    for part in options.parts or PARTS:
        tally, start = Tally(part), time.perf_counter()
        others = {"functions": functions.functions, "pieces": pieces.pieces}
        attacked = others[part]() if part in others else chosen
        for subject in attacked:
            found = len(tally.defects)
            try:
                for case, outcome in PARTS[part](subject):
                    tally.add(f"{subject.name}, {case}", outcome)
            except Exception as error:
                tally.defects.append(f"{subject.name}: the campaign stopped: {error!r}"[:200])
            for line in tally.defects[found:]:
                print("  ", line, flush=True)
        tallies.append(tally)
        print(f"{part}: {tally.tried} cases in {time.perf_counter() - start:.0f} s", flush=True)
    print(f"\n{'tried':>8}{'answered':>10}{'refused':>9}{'defects':>9}")
    for tally in tallies:
        counts = f"{tally.tried:8d}{tally.answered:10d}{tally.refused:9d}{len(tally.defects):9d}"
        print(f"{counts}  {tally.part}")
    print(f"{sum(t.tried for t in tallies):8d}  in all")
    return int(any(t.defects for t in tallies))


if __name__ == "__main__":
    sys.exit(main())
