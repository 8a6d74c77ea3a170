// Measured rates in the place of the device's: plans, times, the clock and the report go by them.
// RUN: rm -rf %t && mkdir %t
// RUN: echo '{"version": 1, "rates": {"memory_bytes_per_ns": 75, "turnaround_ns_per_byte": 0.01148}}' > %t/slow.json
// RUN: spyre-compile %s -o %t/fast.spyre --stats=%t/fast.stats
// RUN: spyre-compile %s -o %t/slow.spyre --stats=%t/slow.stats --rates=%t/slow.json --pretty --dump-stages=%t/stages --report=%t/slow.html
// RUN: cat %t/stages/*-planned.mlir | FileCheck %s --check-prefix=MODULE
// RUN: FileCheck %s --check-prefix=PROGRAM < %t/slow.spyre/program.json
// RUN: FileCheck %s --check-prefix=REPORT < %t/slow.html
// RUN: not grep -q rates %t/fast.spyre/program.json

// MODULE: module attributes {{.*}}spyre.rates = {memory_bytes_per_ns = 7.500000e+01 : f64, turnaround_ns_per_byte = 1.148000e-02 : f64}
// PROGRAM: "device": "spyre",
// PROGRAM-NEXT: "rates": {
// PROGRAM-NEXT: "memory_bytes_per_ns": 75,
// PROGRAM-NEXT: "turnaround_ns_per_byte": 0.01148
// REPORT: compiled for spyre with -O2, rates memory_bytes_per_ns = 75, turnaround_ns_per_byte = 0.01148

// A planned stage keeps its rates, and the program directory is what the emulator takes them from.
// RUN: spyre-compile %t/stages/*-planned.mlir -o %t/again.spyre --stats=%t/again.stats --pretty
// RUN: FileCheck %s --check-prefix=PROGRAM < %t/again.spyre/program.json
// RUN: spyre-run %t/slow.spyre --cost-only --stats=%t/run.stats
// RUN: spyre-run %t/fast.spyre --cost-only --stats=%t/fastrun.stats
// RUN: spyre-run %t/fast.spyre --cost-only --rates=%t/slow.json --stats=%t/given.stats
// RUN: spyre-run %s --cost-only --rates %t/slow.json --stats=%t/both.stats
// RUN: spyre-run %t/fast.spyre/bundles/0 --cost-only --rates=%t/slow.json --stats=%t/bundle.stats
// RUN: %python -c "import json, sys; us = [json.load(open(f))['modelled_us'] for f in sys.argv[1:]]; print(us); assert all(abs(x / us[0] / 2 - 1) < 1e-9 for x in us[2:]) and us[0] == us[1]" %t/fast.stats %t/fastrun.stats %t/slow.stats %t/again.stats %t/run.stats %t/given.stats %t/both.stats %t/bundle.stats
// RUN: %python -c "import json, sys; a, b = [json.load(open(f)) for f in sys.argv[1:]]; assert b['elapsed_us'] > 1.3 * a['elapsed_us'], (a, b)" %t/fastrun.stats %t/run.stats
// RUN: %python -c "import json, sys; a, b = [json.load(open(f))['bound_us'] for f in sys.argv[1:]]; assert abs(b / a / 2 - 1) < 1e-9, (a, b)" %t/fast.stats %t/slow.stats

// A directory runs on the device of a file, whose rates a rates file replaces, too; a text is compiled for variants.
// RUN: spyre-run %t/fast.spyre --cost-only --device=%S/Inputs/device.json --stats=%t/quick.stats
// RUN: spyre-run %t/fast.spyre --cost-only --device=%S/Inputs/device.json --rates=%t/slow.json --stats=%t/back.stats
// RUN: %python -c "import json, sys; a, b, c = [json.load(open(f))['modelled_us'] for f in sys.argv[1:]]; assert abs(a / b / 2 - 1) < 1e-9 and abs(c / a / 2 - 1) < 1e-9, (a, b, c)" %t/fast.stats %t/quick.stats %t/back.stats
// RUN: not spyre-run %s --device=%S/Inputs/device.json 2>&1 | FileCheck %s --check-prefix=VARIANTS
// VARIANTS: error: --device={{.*}}device.json: known variants are spyre

// The rates in use, and what a user begins with.
// RUN: spyre-solve rates --rates %t/slow.json > %t/all.json && FileCheck %s --check-prefix=ALL < %t/all.json
// RUN: spyre-solve rates --device=mock4 --rates=%t/all.json --output %t/again.json && diff %t/all.json %t/again.json
// RUN: spyre-compile %s -o %t/all.spyre --stats=%t/all.stats --rates=%t/all.json
// RUN: grep modelled_us %t/all.stats > %t/a && grep modelled_us %t/slow.stats | diff - %t/a
// ALL: "version": 1,
// ALL-NEXT: "rates": {
// ALL-NEXT: "memory_bytes_per_ns": 75,
// ALL-NEXT: "turnaround_ns_per_byte": 0.01148,
// ALL-NEXT: "broadcast_bytes_per_ns": 118,

// Every mistake in one run, with the file and the field.
// RUN: echo '{"version": 1, "rates": {"memory_rate": 75, "tile_full_rows": "many", "restickify_bytes_per_ns": 0, "working_set_exponent": -1}}' > %t/wrong.json
// RUN: not spyre-compile %s -o %t/no.spyre --rates=%t/wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not spyre-run %s --rates=%t/wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not spyre-run %t/fast.spyre --rates=%t/wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not spyre-solve rates --rates=%t/wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not spyre-solve divide --rates=%t/wrong.json --input %s --output %t/no 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: {{.*}}wrong.json: /rates/memory_rate: there is no such rate
// WRONG-NEXT: wrong.json: /rates/tile_full_rows: expected a number, not string
// WRONG-NEXT: wrong.json: /rates/restickify_bytes_per_ns: a rate is a positive number, not 0
// WRONG-NEXT: wrong.json: /rates/working_set_exponent: a rate is a positive number, not -1
// WRONG-NEXT: wrong.json: the rates are memory_bytes_per_ns, turnaround_ns_per_byte,{{.*}}, working_set_exponent

// RUN: not spyre-compile %s -o %t/no.spyre --rates=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}none.json: cannot open the file
// RUN: not spyre-solve pack --rates=%t/slow.json 2>&1 | FileCheck %s --check-prefix=PACK
// PACK: error: option '--rates' is not one of pack
// RUN: not spyre-solve rates --capacity 3 2>&1 | FileCheck %s --check-prefix=CAPACITY
// CAPACITY: error: option '--capacity' is not one of rates

// A program directory whose rates do not fit is refused by name.
// RUN: sed -i 's/"memory_bytes_per_ns": 75/"memory_bytes_per_ns": 1000/' %t/slow.spyre/program.json && not spyre-run %t/slow.spyre --cost-only 2>&1 | FileCheck %s --check-prefix=NOMINAL
// NOMINAL: program.json: rates: memory_bytes_per_ns exceeds nominal_memory_bytes_per_ns
// RUN: sed -i 's/"memory_bytes_per_ns": 1000/"memory_rate": 1000/' %t/slow.spyre/program.json && not spyre-run %t/slow.spyre --cost-only 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: program.json:/rates/memory_rate: there is no such rate

module {
  func.func @main(%a: !torch.vtensor<[512,1024],f16>, %b: !torch.vtensor<[512,1024],f16>) -> !torch.vtensor<[512,1024],f16> {
    %one = torch.constant.int 1
    %0 = torch.aten.add.Tensor %a, %b, %one : !torch.vtensor<[512,1024],f16>, !torch.vtensor<[512,1024],f16>, !torch.int -> !torch.vtensor<[512,1024],f16>
    return %0 : !torch.vtensor<[512,1024],f16>
  }
}
