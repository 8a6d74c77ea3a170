# frontend_json.py - A described operation as the JSON of a descriptor
#
# Part of the Spyre compiler stack, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The fields of a descriptor in the older form, from what frontend_dims.py found.
# Written from docs/formats/superdsc-rules.md, section 1. Two faults of the reference
# front end (docs/formats/superdsc-rules.md, section 6) are not modelled:
# `maskingConstId_` is the mask constant's number, `maxDimSizes_` follows the operand's
# own order.
"""Descriptors in the form of June 2026."""

import struct

from . import formats
from .frontend_align import Unknown


def affine(*alphas):
    return [{"Affine": {"alpha_": alpha, "beta_": 0}} for alpha in alphas]


def factors(*pairs):
    return [{"factor_": factor, "label_": label} for factor, label in pairs]


def core_folds(cores):
    return factors((cores, "core"), (1, "corelet"), (1, "time"))


def encode(value, format):
    """An f32 operation has the float's bits, others DL16 bits (docs/formats/superdsc-rules.md, section 4)."""
    if format == "IEEE_FP32":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    return int(formats.encode_dl16(value))


def coordinate_info(described, tensor, name):
    dim, elements = described.dim(name), tensor.access.elements
    scale = tensor.scale[name]
    size, slices = (dim.size // dim.split, dim.split) if scale == 1 else (1, 1)
    if name != tensor.label_stick:
        alphas = [size, 0, 0, 1]
        labels = [(slices, "core_fold"), (1, "corelet_fold"), (1, "row_fold"), (size, "elem_arr_0")]
    elif scale == -2:
        alphas = [elements, 0, 0, elements, 0]
        labels = [(1, "core_fold"), (1, "corelet_fold"), (1, "row_fold"), (1, "elem_arr_1"), (elements, "elem_arr_0")]
    else:
        if scale != 1 or size % elements and not described.has_partial_sticks:
            raise Unknown("a stick dim whose slice is no whole sticks")
        alphas = [size, 0, 0, elements, 1]
        labels = [(slices, "core_fold"), (1, "corelet_fold"), (1, "row_fold")]
        labels += [(size // elements, "elem_arr_1"), (elements, "elem_arr_0")]
    return {
        "spatial": 3,
        "temporal": 0,
        "elemArr": len(alphas) - 3,
        "padding": "nopad",
        "folds": {"dim_prop_func": affine(*alphas), "dim_prop_attr": factors(*labels)},
    }


def node_name(number, tensor_space):
    return f"allocate-Tensor{number}_{'lx' if tensor_space == 'lx' else 'hbm'}"


def allocate_node(described, number, spaces, addresses, symbolic):
    """`addresses`: one number a core, byte addresses or (negative) symbol ids."""
    tensor, space = described.tensors[number], spaces[number]
    cores = described.cores()
    label_order = next(order for name, order, _, _ in described.labels if name == tensor.label)
    node = {
        "nodeType_": "allocate",
        "name_": node_name(number, space),
        "prev_": "",
        "ldsIdx_": number,
        "component_": "lx" if space == "lx" else "hbm",
        "layoutDimOrder_": tensor.order,
        "maxDimSizes_": [limit_of(described, tensor, name) for name in tensor.order],
        "indirectAllocType_": "no_indirection",
    }
    if symbolic and space != "lx":
        node["isStartAddrSymbolic_"] = 1
    if tensor.partner is not None:
        node["indirectAllocType_"] = "index_tensor" if tensor.is_index else "value_tensor"
        node["relatedIndirectAccessAlloc_"] = node_name(tensor.partner, spaces[tensor.partner])
    if tensor.is_index:
        node["indexTensorType_"] = "index"
    node["startAddressCoreCorelet_"] = {
        "dim_prop_func": [{"Map": {}}, {"Const": {}}, {"Const": {}}],
        "dim_prop_attr": core_folds(cores),
        "data_": {f"[{core}, 0, 0]": str(address) for core, address in enumerate(addresses)},
    }
    if tensor.gap:
        where = [str(core) for core in range(cores)] if space == "lx" else ["-1"]
        node["backGapCore_"] = {name: {key: str(gap) for key in where} for name, gap in tensor.gap.items()}
    node["coordinates_"] = {
        "coordInfo": {name: coordinate_info(described, tensor, name) for name in label_order},
        "coreIdToWkSlice_": {},
    }
    return node


def limit_of(described, tensor, name):
    """1 for an indirectly accessed dim whose index tensor is shorter than the value tensor's dim."""
    if name not in tensor.indirect:
        return -1
    place = next(place for place, c in enumerate(tensor.access.coordinates) if c.indirect)
    if len(tensor.indirect) != 1:
        raise Unknown("the limits of an index tensor of several dims")
    return 1 if described.dim(name).size < tensor.access.sizes[place] else -1


def labeled(tensor, number, space, described):
    label_order = next(order for name, order, _, _ in described.labels if name == tensor.label)
    present = {"isPresent": 1}
    if space == "lx":
        memory = {"lx": present}
    elif tensor.is_index:
        memory = {"hbm": present}
    else:
        memory = {"hbm": present, "lx": present}
    return {
        "ldsIdx_": number,
        "dsName_": f"Tensor{number}",
        "dsType_": tensor.label,
        "scale_": [tensor.scale[name] for name in label_order],
        "wordLength": tensor.bytes,
        "dataFormat_": tensor.format,
        "memOrg_": memory,
    }


def constants(described):
    if not described.constants:
        return "{}"
    return {
        str(number): {
            "dataFormat_": described.format,
            "name_": name,
            "data_": {
                "dim_prop_func": [{"Const": {}}, {"Const": {}}, {"Map": {}}],
                "dim_prop_attr": core_folds(described.cores()),
                "data_": {"[0, 0, 0]": [encode(value, described.format)]},
            },
        }
        for number, (name, value) in enumerate(described.constants.items())
    }


# Operations of one input that list their output among the inputs (docs/formats/superdsc-rules.md, section 3).
LISTS_OUTPUT = {"sum", "max", "min", "mean", "exx2"}


def compute_op(described):
    names = [f"Tensor{number}-idx{number}" for number in range(len(described.tensors))]
    indices = [name for name, tensor in zip(names, described.tensors) if tensor.is_index]
    inputs = [name for name in names[:-1] if name not in indices]
    if described.base_function in LISTS_OUTPUT:
        inputs.append(names[-1])
    result = {
        "exUnit": "pt" if described.function in ("batchmatmul", "batchmatmulfp8") else "sfp",
        "opFuncName": described.function,
        "attributes_": {"dataFormat_": described.format, "fidelity_": "regular"},
        "location": "Inner",
        "inputLabeledDs": inputs,
        "outputLabeledDs": names[-1:],
    }
    if indices:
        result["indirectAccessIndexLabeledDs"] = indices
    return result


def descriptor(described, index, spaces, addresses, symbolic):
    """The JSON of sdsc_<index>.json."""
    cores = described.cores()
    every = [str(core) for core in range(cores)]
    stage = {"name_": "core", **{f"{dim.name}_": dim.size // dim.split for dim in described.dims}}
    dsc = {
        "numCoresUsed_": cores,
        "numCoreletsUsed_": 1,
        "coreIdsUsed_": list(range(cores)),
        "N_": {"name_": "n", **{f"{dim.name}_": dim.size for dim in described.dims}},
        "coordinateMasking_": described.mask,
        "maskingConstId_": len(described.constants) - 1 if described.mask else -1,
        "dataStageParam_": {"0": {"ss_": stage, "el_": stage}},
        "primaryDsInfo_": {
            name: {"layoutDimOrder_": order, "stickDimOrder_": [stick], "stickSize_": [elements]}
            for name, order, stick, elements in described.labels
        },
        "scheduleTree_": [
            allocate_node(described, number, spaces, addresses[number], symbolic)
            for number in range(len(described.tensors))
        ],
        "labeledDs_": [
            labeled(tensor, number, spaces[number], described) for number, tensor in enumerate(described.tensors)
        ],
        "constantInfo_": constants(described),
        "computeOp_": [compute_op(described)],
    }
    return {
        f"{index}_{described.function}": {
            "sdscFoldProps_": factors((1, "time")),
            "sdscFolds_": {
                "dim_prop_func": affine(1),
                "dim_prop_attr": factors((1, "time")),
                "data_": {"[0]": "0"},
            },
            "coreFoldProp_": {"factor_": cores, "label_": "core"},
            "coreletFoldProp_": {"factor_": 1, "label_": "corelet"},
            "numCoresUsed_": cores,
            "coreIdToDsc_": {core: 0 for core in every},
            "numWkSlicesPerDim_": {dim.name: dim.split for dim in described.dims},
            "coreIdToWkSlice_": {core: described.slices[int(core)] for core in every},
            "coreIdToDscSchedule": {core: [[-1, 0, 0, 0]] for core in every},
            "dscs_": [{described.function: dsc}],
        }
    }
