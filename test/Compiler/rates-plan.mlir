// Other rates are another plan: where a small tile of the result has operands read again, columns are cut finer.
// RUN: rm -rf %t && mkdir %t
// RUN: echo '{"version": 1, "rates": {"matmul_tile_elements": 1024}}' > %t/rates.json
// RUN: spyre-compile %s -o %t/one.spyre --dump-stages=%t/one && grep -h spyre.batchmatmul %t/one/*-planned.mlir > %t/one.txt
// RUN: spyre-compile %s -o %t/two.spyre --dump-stages=%t/two --rates=%t/rates.json && grep -h spyre.batchmatmul %t/two/*-planned.mlir > %t/two.txt
// RUN: not diff %t/one.txt %t/two.txt

// The division by itself has them, too.
// RUN: spyre-solve divide --input %data/planning/work_division.json --output %t/one.json
// RUN: spyre-solve divide --input %data/planning/work_division.json --output %t/same.json --device=spyre && diff %t/one.json %t/same.json
// RUN: spyre-solve divide --input %data/planning/work_division.json --output %t/two.json --rates=%t/rates.json
// RUN: not diff %t/one.json %t/two.json

module {
  func.func @main(%x: !torch.vtensor<[128,4096],f16>, %y: !torch.vtensor<[4096,4096],f16>) -> !torch.vtensor<[128,4096],f16> {
    %0 = torch.aten.mm %x, %y : !torch.vtensor<[128,4096],f16>, !torch.vtensor<[4096,4096],f16> -> !torch.vtensor<[128,4096],f16>
    return %0 : !torch.vtensor<[128,4096],f16>
  }
}
