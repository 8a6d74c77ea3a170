# test_rates.py - Measured rates in the place of the device's
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Plans and the clock go by them, the cache tells programs apart by them, and what is wrong
# with a file is an OptionError that says all of it.
"""The option `rates`."""

import json
import pathlib

import numpy as np
import pytest
import spyre_mlir
from conftest import ADD
from spyre_mlir import _runtime

SLOW = {"memory_bytes_per_ns": 75.0, "turnaround_ns_per_byte": 0.01148}


def write(path, rates=SLOW, **other):
    path.write_text(json.dumps({"version": 1, "rates": rates, **other}))
    return path


def clock_us(program, arrays):
    """What the emulator's clock gives a run on a device of its own."""
    before = program._device.counters()["modelled_us"]
    assert np.array_equal(program(*arrays), arrays[0] + arrays[1])
    return program._device.counters()["modelled_us"] - before


@pytest.mark.parametrize("form", ["dict", "path", "text"])
def test_plan_and_clock_go_by_them(arrays, tmp_path, form):
    path = write(tmp_path / "slow.json")
    rates = {"dict": SLOW, "path": path, "text": str(path)}[form]
    fast, slow = spyre_mlir.compile_text(ADD), spyre_mlir.compile_text(ADD, rates=rates)
    assert slow.stats["modelled_us"] == pytest.approx(2 * fast.stats["modelled_us"])
    assert clock_us(slow, arrays) == pytest.approx(slow.stats["modelled_us"])
    assert clock_us(fast, arrays) == pytest.approx(fast.stats["modelled_us"])


def test_programs_of_other_rates_are_other_entries_of_the_cache(tmp_path):
    path = write(tmp_path / "rates.json")
    assert not spyre_mlir.compile_text(ADD).stats["cached"]
    assert not spyre_mlir.compile_text(ADD, rates=path).stats["cached"]
    assert spyre_mlir.compile_text(ADD, rates=SLOW).stats["cached"]
    # The content counts, not the name.
    write(path, {**SLOW, "memory_bytes_per_ns": 76})
    assert not spyre_mlir.compile_text(ADD, rates=path).stats["cached"]
    assert spyre_mlir.compile_text(ADD).stats["cached"]


def test_saved_programs_keep_theirs_until_others_are_given(arrays, tmp_path):
    program = spyre_mlir.compile_text(ADD, rates=SLOW)
    program.save(tmp_path / "slow.spyre")
    assert json.loads((tmp_path / "slow.spyre" / "program.json").read_text())["rates"] == SLOW
    again = spyre_mlir.load(tmp_path / "slow.spyre")
    assert clock_us(again, arrays) == pytest.approx(program.stats["modelled_us"])
    other = spyre_mlir.load(
        tmp_path / "slow.spyre", rates={"memory_bytes_per_ns": 150, "turnaround_ns_per_byte": 0.00574}
    )
    assert clock_us(other, arrays) == pytest.approx(program.stats["modelled_us"] / 2)


@pytest.mark.parametrize(
    "rates, what",
    [
        (
            {"memory_rate": 1, "tile_full_rows": -1},
            r"rates: /rates/memory_rate: there is no such rate\nrates: /rates/tile",
        ),
        ({"memory_rate": 1}, "rates: the rates are memory_bytes_per_ns, "),
        ({"tile_full_rows": float("nan")}, "rates: /rates/tile_full_rows: a rate is a finite number"),
        ({"tile_full_rows": np.float32(3)}, "rates=.*float32 is not JSON serializable"),
        ({"tile_full_rows": "many"}, "/rates/tile_full_rows: expected a number, not string"),
        ({"memory_bytes_per_ns": 1000}, "memory_bytes_per_ns exceeds nominal_memory_bytes_per_ns"),
        ("/no/such/rates.json", "rates='/no/such/rates.json': No such file"),
        (3, "rates=3: dict wanted"),
    ],
)
def test_mistakes(rates, what):
    with pytest.raises(spyre_mlir.OptionError, match=what):
        spyre_mlir.compile_text(ADD, rates=rates)


def test_mistakes_of_files_name_them(tmp_path):
    path = write(tmp_path / "wrong.json", {"tile_full_rows": 0}, colour=1)
    with pytest.raises(spyre_mlir.OptionError) as caught:
        spyre_mlir.compile_text(ADD, rates=pathlib.Path(path))
    first, second, third = str(caught.value).splitlines()
    assert first.endswith("wrong.json: /rates/tile_full_rows: a rate is a positive number, not 0")
    assert second.endswith('wrong.json: /colour: a rates file has "version" and "rates", nothing else')
    assert "wrong.json: the rates are memory_bytes_per_ns, " in third


def test_device_files_have_the_rates_of_the_option(arrays, tmp_path):
    spyre_mlir.compile_text(ADD).save(tmp_path / "add.spyre")
    described = json.loads(_runtime.Device("spyre").description)
    described["name"] = "mine"
    (tmp_path / "mine.json").write_text(json.dumps(described))
    mine = {"device": str(tmp_path / "mine.json")}
    own, slow = (spyre_mlir.load(tmp_path / "add.spyre", **mine, **more) for more in ({}, {"rates": SLOW}))
    assert clock_us(slow, arrays) == pytest.approx(2 * clock_us(own, arrays))
