"""The wide layout beside vlab-prepro, the survey platform's library.

It is given the long file and the form data.

Comments name what the service does differently on purpose.
"""

import itertools
import json
import random
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import polars
from vlab_prepro import Preprocessor, compute_seed

from service import Study

SURVEYS = 40
RECORD = ["userid", "parent_surveyid", "parent_shortcode"]
KEYS = ["cluster", "ad_id"]
ARMS = ["seed_2", "seed_25_2"]
TIMES = [
    "survey_duration",
    "answer_time_min",
    "answer_time_median",
    "answer_time_75",
    "answer_time_90",
]
ROUNDED = 0.6e-6
"""How far seconds may differ: the service rounds to microseconds, the library has floats."""
OF_RECORDS = [*itertools.product(["last", "first", "drop"], [[], ["cluster"]])]
OTHERS = ["flowid", "started", "ended", "attempts", "answers", "metadata"]
"""The service's columns that the library does not have."""


def add_answers(study: Study, random: random.Random) -> None:
    """Add participants who take forms in one or two chains, some of them again."""
    rows = []
    seed_type = random.choice([int, str])
    start = datetime(1900, 1, 1, tzinfo=timezone.utc) + timedelta(days=random.randrange(110_000))
    for number in range(random.randrange(1, 7)):
        metadata: dict[str, object] = {
            "cluster": random.choice(["a", "b", "true"]),
            "ad_id": random.choice([7, 120210000000000000]),
            "seed": seed_type(random.choice([7, random.randrange(2**32), 2**32 - 1, 2**32])),
            "seed_2": random.choice(["1", "control", None, None, None]),
        }
        metadata = {key: value for key, value in metadata.items() if random.random() < 0.9}
        chains = [
            {
                "parent_surveyid": random.choice([None, *study.forms]),
                "parent_shortcode": random.choice(["start", ""]),
            }
            for _ in range(2)
        ]
        for _ in range(random.randrange(1, 5)):
            form = random.choice(chains) | {
                "surveyid": random.choice(study.forms),
                "flowid": random.randrange(1, 4),
                "userid": f"00{number}",
            }
            time = start + timedelta(seconds=random.randrange(3))
            for index in range(random.randrange(1, 7)):
                steps = [0, 1, 999, 10**6, random.randrange(10**9), 10**13 - 1]
                time += timedelta(microseconds=random.choice(steps))
                lacking = random.choice([*[None] * 15, "cluster", "seed"])
                stored = {key: value for key, value in metadata.items() if key != lacking}
                rows.append(
                    form
                    | {
                        "question_ref": random.choice(["q0", "q1", "q2", "cluster"]),
                        "question_idx": index,
                        "question_text": "?",
                        "response": random.choice(["", "A", "5"]),
                        "timestamp": time,
                        "metadata": random.choice([*[json.dumps(stored)] * 30, None]),
                        "translated_response": random.choice([None, "", "um"]),
                    }
                )
    study.insert(rows)


def table(csv: bytes) -> polars.DataFrame:
    return polars.read_csv(csv, infer_schema=False)


def cells_of(wide: polars.DataFrame) -> dict[tuple[object, ...], Any]:
    """Return what is not null by record and column."""
    return {
        (*(record[name] for name in RECORD), name): cell
        for record in wide.drop(OTHERS, strict=False).to_dicts()
        for name, cell in record.items()
        if cell is not None
    }


def of_the_library(
    responses: polars.DataFrame,
    forms: polars.DataFrame,
    repeats: str,
    testers: list[str],
    value: str,
    columns: str,
) -> polars.DataFrame:
    """Return the wide table, with the service's names of columns."""
    library = Preprocessor()
    # Times have three or six decimals, so their texts are not in their order.
    answers: polars.DataFrame = library.parse_timestamp(library.add_form_data(forms, responses))
    answers = library.add_metadata([*KEYS, "seed", *ARMS], answers)
    cluster = "cluster_metadata" if "cluster_metadata" in answers.columns else "cluster"
    answers = answers.rename({cluster: "metadata.cluster", "ad_id": "metadata.ad_id"})
    # A record is of a chain of forms, and a form is all of its versions. In the library, both are a
    # form's version.
    library.keys = {*RECORD}
    chain = polars.concat_str(*RECORD[1:], separator="|", ignore_nulls=True)
    answers = answers.with_columns(surveyid=polars.concat_str(chain, "shortcode", separator="|"))
    for key in testers:
        answers = library.drop_users_without(f"metadata.{key}", answers)
    if repeats == "drop":
        # The platform keeps final answers first, and so a participant who replaced all of the first
        # attempt's.
        answers = library.drop_duplicated_users(["shortcode"], answers)
    if repeats == "first":
        # The library has nothing like it.
        flow = polars.col("flowid")
        answers = answers.filter(flow == flow.first().over([*RECORD, "shortcode"]))
    if answers.is_empty():
        return answers
    answers = library.keep_final_answer(library.count_invalid(answers))
    # A record has the metadata of its last answer. The library makes a record for all that differ.
    metadata = ["metadata.cluster", "metadata.ad_id", "seed", *ARMS]
    answers = answers.with_columns(polars.col(metadata).last().over(RECORD))
    answers = library.add_duration(answers)
    library.keys.update(metadata)
    # An answer without a translation stands for itself. The library leaves its cell empty.
    answers = answers.with_columns(translated=polars.coalesce("translated_response", "response"))
    if columns == "question":
        # Of answers in several forms, the last counts. The library refuses them.
        answers = answers.unique([*RECORD, "question_ref"], keep="last", maintain_order=True)
    else:
        answers = answers.with_columns(
            question_ref=polars.concat_str("shortcode", "question_ref", separator=".")
        )
    wide: polars.DataFrame = library.pivot(value, answers)
    for arm in ARMS:
        cells = [arm_of(arm, *pair) for pair in zip(wide["seed"], wide[arm], strict=True)]
        wide = wide.with_columns(polars.Series(f"arm.{arm}", cells, polars.String))
    wide = wide.rename({"invalid_answer_count": "corrections"})
    return wide.drop(
        "survey_start_time", "survey_end_time", "invalid_answer_percentage", "seed", *ARMS
    )


def arm_of(arm: str, seed: int | str | None, stored: str | None) -> str | None:
    """Return a treatment arm: the stored one, if any. A seed of more than 32 bits has none."""
    if stored is not None or seed is None or int(seed) >= 2**32:
        return stored
    return str(compute_seed(int(seed), key=arm))


def test_wide_files_are_what_the_library_makes(database, randomness):
    """Each survey is tried with all ways to choose records."""
    for _ in range(SURVEYS):
        study = Study(
            database, f"Platform {uuid.uuid4()}", randomness, *randomness.choice(["a", "ab", "aab"])
        )
        add_answers(study, randomness)
        responses, forms = table(study.export()), table(study.export("/responses/form-data"))
        for repeats, testers in OF_RECORDS:
            parameters = {
                "value": randomness.choice(["response", "translated"]),
                "columns": randomness.choice(["form_question", "question"]),
                "repeats": repeats,
                "require_metadata": testers,
                "metadata": KEYS,
                "timing": "true",
                "arm": ARMS,
            }
            wide = table(study.export(layout="wide", **parameters))
            # A record has its own corrections. The library counts all of the participant's.
            wide = wide.with_columns(polars.col("corrections").cast(int).sum().over("userid"))
            table_of_library = of_the_library(
                responses, forms, repeats, testers, parameters["value"], parameters["columns"]
            )
            actual, expected = cells_of(wide), cells_of(table_of_library)
            assert actual.keys() == expected.keys(), parameters
            for key, cell in expected.items():
                if key[-1] in TIMES:
                    assert abs(float(actual[key]) - cell) <= ROUNDED, (parameters, key)
                else:
                    assert str(actual[key]) == str(cell), (parameters, key)
        study.delete_survey()
