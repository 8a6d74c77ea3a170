# Configuration of the lit tests. Run: lit -sv test --param build=build
import os
import platform  # noqa: F401  (lit evaluates this file with its own globals)

import lit.formats

config.name = "spyre"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["data", "conformance", "unit", "Inputs", "e2e"]
config.test_source_root = os.path.dirname(__file__)
source_root = os.path.dirname(config.test_source_root)
build = os.path.abspath(lit_config.params.get("build", os.path.join(source_root, "build")))
config.test_exec_root = os.path.join(build, "test")

llvm_tools = lit_config.params.get("llvm_tools", "/usr/lib/llvm-22/bin")
path = [os.path.join(build, "bin"), llvm_tools, config.environment.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(path)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "OPENBLAS_CORETYPE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
data = os.environ.get("SPYRE_TEST_DATA", os.path.join(config.test_source_root, "data"))
config.environment["SPYRE_TEST_DATA"] = data
config.substitutions.append(("%data", data))
python = lit_config.params.get("python", "python3")
config.substitutions.append(("%python", python))
# Runs the programs of a test and compares with NumPy; flags of a run are joined by commas.
against_numpy = os.path.join(config.test_source_root, "against_numpy.py")
config.substitutions.append(("%against_numpy", f"{python} {against_numpy}"))
