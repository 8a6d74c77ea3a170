# test_spellings.py - Spellings of bundles that are newer, or the vendor's alone
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Bundles of the reference data, rewritten as other files have them
# (docs/formats/superdsc-rules.md, section 10): each is read, verified, written back as it was, and runs to
# the numbers that came with it. And what is given by hand with -i and -o is held against
# the descriptors.
"""Newer spellings of descriptors, bundle.mlir and launch_spec.json."""

import json
import re
import shutil

import numpy as np
import pytest
from lib.built import LARGE, run, tool

SMALL = LARGE / "small"


def copy(name, tmp_path):
    folder = tmp_path / name
    shutil.copytree(SMALL / name, folder)
    return folder


def descriptors(folder):
    return sorted(folder.glob("sdsc_*.json"))


def dsc_of(document):
    (root,) = document.values()
    return next(iter(root["dscs_"][0].values()))


def change(file, edit):
    document = json.loads(file.read_text())
    edit(dsc_of(document))
    file.write_text(json.dumps(document))


def explain(folder):
    done = run(tool("spyre-translate"), "--explain", folder)
    assert done.code == 0, done.err
    return done.out


def round_trip(folder, tmp_path):
    """Reads, verifies and writes; the descriptors come back equal. Returns the new folder."""
    module, back = tmp_path / "module.mlir", tmp_path / "back"
    done = run(tool("spyre-translate"), "--bundle-to-sdsc", folder, "--verify", "-o", module)
    assert done.code == 0, done.err
    done = run(tool("spyre-translate"), "--sdsc-to-bundle", module, "-o", back)
    assert done.code == 0, done.err
    for file in descriptors(folder):
        assert json.loads((back / file.name).read_text()) == json.loads(file.read_text()), file.name
    return back


def execute(folder, *flags, data=None):
    data = data or folder / "data.npz"
    return run(tool("spyre-run"), folder, *flags, "--inputs", data, "--expect", data, "--check")


def runs(folder, *flags, data=None):
    done = execute(folder, *flags, data=data)
    assert done.code == 0, done.err


@pytest.mark.parametrize("alone", [False, True], ids=["list", "text"])
def test_constants_as_text(tmp_path, alone):
    folder = copy("clamp_48x64", tmp_path)
    changed = 0

    def edit(dsc):
        nonlocal changed
        if isinstance(dsc["constantInfo_"], dict):
            for constant in dsc["constantInfo_"].values():
                data = constant["data_"]["data_"]
                (bits,) = data["[0, 0, 0]"]
                data["[0, 0, 0]"] = str(bits) if alone else [str(bits)]
                changed += 1

    for file in descriptors(folder):
        change(file, edit)
    assert changed
    round_trip(folder, tmp_path)
    runs(folder, "--bind", folder / "bind.json")


def test_pool_made_in_the_body(tmp_path):
    folder = copy("softmax_pool_32x256", tmp_path)
    text = (folder / "bundle.mlir").read_text()
    assert "%pool = sdscbundle.input_arg_extract value from %pool_base_addr" in text
    size = json.loads((folder / "bind.json").read_text())["pool_bytes"]
    text = re.sub(r"%pool_base_addr: !sdscbundle.input_arg<index>,? ?", "", text)
    line = f"%pool = sdscbundle.device_mem_allocate {size} bytes : index"
    text = re.sub(r"%pool = sdscbundle.input_arg_extract .*", line, text)
    (folder / "bundle.mlir").write_text(text)
    runs(folder, "--bind", folder / "bind.json")
    back = round_trip(folder, tmp_path)
    assert line in (back / "bundle.mlir").read_text() and "%pool_base_addr" not in (back / "bundle.mlir").read_text()
    runs(back, data=folder / "data.npz")
    assert "pool" in explain(folder)


def test_an_option_says_who_makes_the_pool(tmp_path):
    folder = copy("softmax_pool_32x256", tmp_path)
    module = tmp_path / "module.mlir"
    assert run(tool("spyre-translate"), "--bundle-to-sdsc", folder, "-o", module).code == 0
    for where, made in (("body", True), ("argument", False)):
        back = tmp_path / where
        done = run(tool("spyre-translate"), "--sdsc-to-bundle", module, "-o", back, f"--superdsc-pool={where}")
        assert done.code == 0, done.err
        assert ("device_mem_allocate" in (back / "bundle.mlir").read_text()) == made
        runs(back, data=folder / "data.npz")


def neutral(folder):
    bind = json.loads((folder / "bind.json").read_text())
    args = []
    for number, entry in enumerate(bind["arguments"]):
        args.append(
            {
                "arg_index": number,
                "role": entry["role"],
                "shape": entry["shape"],
                "dtype": "torch." + entry["dtype"],
                "layout": {
                    **{key: entry[key] for key in ("device_size", "stride_map", "device_dtype")},
                    "element_arrangement": "STANDARD",
                },
            }
        )
    return {
        "version": 1, "kernel_name": "kernel", "pool_size": bind["pool_bytes"], "bundle_symbolic_args": True,
        "emitter": "somebody", "symbol_kinds": {}, "args": args[::-1], "symbols": {},
    }  # fmt: skip


@pytest.mark.parametrize("place", [".", "spyreCodeDir"])
def test_neutral_launch_specification(tmp_path, place):
    folder = copy("add_64x256", tmp_path)
    (folder / place).mkdir(exist_ok=True)
    (folder / place / "launch_spec.json").write_text(json.dumps(neutral(folder)))
    (folder / "bind.json").unlink()
    runs(folder)
    runs(folder, "-i", "64x256@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16")
    runs(round_trip(folder, tmp_path), data=folder / "data.npz")


def test_launch_specification_does_not_get_in_the_way(tmp_path):
    folder = copy("add_64x256", tmp_path)
    (folder / "launch_spec.json").write_text('{"version": 7, "of": "somebody else"}')
    runs(folder, "-i", "64x256@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16")
    assert "launch_spec.json" in execute(folder).err


def symbolic(tmp_path, granularity=32, most=64):
    """add_64x256 with as many rows as the launcher says."""
    folder = copy("add_64x256", tmp_path)
    slices = 0

    def edit(dsc):
        nonlocal slices
        slices = dsc["N_"]["mb_"] // dsc["dataStageParam_"]["0"]["ss_"]["mb_"]
        dsc["dimToSymbolMapping_"] = {"mb": [-900]}
        dsc["N_"]["mb_"] = -1
        for stage in dsc["dataStageParam_"]["0"].values():
            stage["mb_"] = -1
            stage["symbolicDimInfo_"] = {"mb": {"maxSize_": most // slices, "granularity_": granularity // slices}}

    (file,) = descriptors(folder)
    change(file, edit)
    text = (folder / "bundle.mlir").read_text()
    kind = f"!sdscbundle.input_arg<index, granularity = {granularity}, max_value = {most}>"
    text = text.replace("@sdsc_bundle(", f"@sdsc_bundle(%rows_value: {kind}, ", 1)
    text = text.replace(
        ") {\n", f") {{\n\t\t%rows = sdscbundle.input_arg_extract value from %rows_value : {kind} -> index\n", 1
    )
    text = text.replace("sdsc_execute (", "sdsc_execute (%rows, ").replace('"symbol_ids"=[', '"symbol_ids"=[-900, ')
    (folder / "bundle.mlir").write_text(text)
    return folder, slices


def test_symbolic_sizes(tmp_path):
    folder, slices = symbolic(tmp_path)
    assert slices == 32
    runs(folder, "--bind", folder / "bind.json")
    back = round_trip(folder, tmp_path)
    assert "granularity = 32, max_value = 64>" in (back / "bundle.mlir").read_text()
    runs(back, data=folder / "data.npz")
    assert "a multiple of 32, at most 64" in explain(folder)
    done = execute(folder, "--bind", folder / "bind.json", "--sizes", "48")
    assert done.code == 1 and "size0 is 48; it is a multiple of 32 up to 64" in done.err


def test_slices_divide_the_granularity(tmp_path):
    folder, _ = symbolic(tmp_path)
    text = (folder / "bundle.mlir").read_text()
    (folder / "bundle.mlir").write_text(text.replace("granularity = 32", "granularity = 16"))
    done = run(tool("spyre-translate"), "--bundle-to-sdsc", folder, "--verify")
    assert done.code == 1 and "has 32 slices, which do not divide the granularity 16 of its size [SDSC-62]" in done.err


@pytest.mark.parametrize("sticks", [0, 1], ids=["whole", "begun"])
def test_less_than_a_stick_of_indices(tmp_path, sticks):
    """The reference counts whole sticks of an index tensor, none of 16 indices; newer files, those that are begun."""
    folder, count = copy("embedding_64x128", tmp_path), 16

    def edit(dsc):
        for sizes in (dsc["N_"], *dsc["dataStageParam_"]["0"].values()):
            assert sizes["mb_"] == 32
            sizes["mb_"] = count
        for node in dsc["scheduleTree_"]:
            folds = node["coordinates_"]["coordInfo"]["mb"]["folds"]
            folds["dim_prop_func"][0]["Affine"]["alpha_"] = count
            if node["indirectAllocType_"] == "index_tensor":
                folds["dim_prop_attr"][3]["factor_"] = sticks
            else:
                folds["dim_prop_attr"][3]["factor_"] = count

    change(folder / "sdsc_1.json", edit)
    bind = json.loads((folder / "bind.json").read_text())
    bind["arguments"][1]["shape"] = [count]
    bind["arguments"][2].update(shape=[count, 128], device_size=[2, count, 64])
    (folder / "bind.json").write_text(json.dumps(bind))
    with np.load(folder / "data.npz") as arrays:
        data = {name: arrays[name] if name == "in1" else arrays[name][:count] for name in arrays}
    np.savez(folder / "data.npz", **data)
    round_trip(folder, tmp_path)
    runs(folder, "--bind", folder / "bind.json")
    # More than a stick that is no whole sticks is forbidden.
    change(folder / "sdsc_1.json", lambda dsc: dsc["N_"].update(mb_=40))
    change(folder / "sdsc_1.json", lambda dsc: [s.update(mb_=40) for s in dsc["dataStageParam_"]["0"].values()])
    done = run(tool("spyre-translate"), "--bundle-to-sdsc", folder, "--verify")
    assert done.code == 1 and "[SDSC-8]" in done.err


# --- what is given by hand -----------------------------------------------------


def short(folder):
    """-i and -o of a bundle whose arguments have default layouts, or None."""
    flags = []
    for entry in json.loads((folder / "bind.json").read_text())["arguments"]:
        if entry["role"] not in ("input", "output") or entry["dtype"] == "bool" or entry.get("stride"):
            return None
        flags += ["-i" if entry["role"] == "input" else "-o", "x".join(map(str, entry["shape"])) + "@" + entry["dtype"]]
    return flags


FOLDERS = sorted(path for path in SMALL.iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_what_fits_is_taken(folder):
    flags = short(folder)
    names = [entry.get("array") for entry in json.loads((folder / "bind.json").read_text())["arguments"]]
    counted = {"in": 0, "out": 0}
    for name in names:
        kind = name.rstrip("0123456789") if name else ""
        if kind not in counted or name != f"{kind}{counted[kind]}":
            return  # -i and -o count by themselves
        counted[kind] += 1
    if flags is None:
        return
    done = run(tool("spyre-run"), folder, *flags, "--inputs", folder / "data.npz")
    assert not re.search(r" reads .*, not ", done.err), done.err


@pytest.mark.parametrize(
    "flags, message",
    [
        (["-i", "256x64@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16"], "-i 256x64@fp16 (in0): sdsc_0.json (Tensor0) reads 64x256, not 256x64: the sizes are in another order"),
        (["-i", "64x256@fp16", "-i", "64x256@fp16", "-o", "256x64@fp16"], "-o 256x64@fp16 (out0): sdsc_0.json (Tensor2) reads 64x256, not 256x64"),
        (["-i", "64x256@fp32", "-i", "64x256@fp16", "-o", "64x256@fp16"], "reads SEN169_FP16, not IEEE_FP32"),
        (["-i", "128x256@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16"], "reads 64x256, not 128x256"),
        (["-i", "32x256@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16"], "reads 64x256, not 32x256"),
        (["-i", "16384@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16"], "reads 64x256, not 16384"),
        (["-i", "2x32x256@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16"], "reads 64x256, not 2x32x256"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(flags, message):
    done = run(tool("spyre-run"), SMALL / "add_64x256", *flags)
    assert done.code == 1 and message in done.err, done.err


def test_square_and_small_ones(tmp_path):
    """64x32 has the elements of 32x64, and more memory."""
    folder = SMALL / "relu_sigmoid_40x128"
    done = run(tool("spyre-run"), folder, "-i", "128x40@fp16", "-o", "40x128@fp16")
    assert done.code == 1 and "reads 40x128, not 128x40: the sizes are in another order" in done.err
    done = run(tool("spyre-run"), SMALL / "same_arg_32x64", "-i", "64x32@fp16", "-o", "32x64@fp16")
    part = "reads 32x64, not 64x32: the sizes are in another order; if it reads a part on purpose, describe"
    assert done.code == 1 and part in done.err, done.err


def test_arrays_of_another_shape_and_order(tmp_path):
    folder = SMALL / "add_64x256"
    with np.load(folder / "data.npz") as arrays:
        data = dict(arrays)
    flags = ["-i", "64x256@fp16", "-i", "64x256@fp16", "-o", "64x256@fp16"]
    np.savez(tmp_path / "turned.npz", **{**data, "in0": np.ascontiguousarray(data["in0"].T)})
    done = run(tool("spyre-run"), folder, *flags, "--inputs", tmp_path / "turned.npz")
    assert done.code == 1 and "input in0 has shape 256x64, the program takes 64x256" in done.err
    # In Fortran order a file has the same shape.
    np.savez(tmp_path / "fortran.npz", **{**data, "in0": np.asfortranarray(data["in0"])})
    runs(folder, *flags, data=tmp_path / "fortran.npz")
