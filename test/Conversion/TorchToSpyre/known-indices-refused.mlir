// RUN: spyre-opt %s --convert-torch-to-spyre --split-input-file --verify-diagnostics

// expected-error @below {{'program' cannot be compiled: 5 operations are not supported}}
func.func @program(%x: !torch.vtensor<[6,64],f16>, %i: !torch.vtensor<[2],si64>, %v: !torch.vtensor<[2,64],f16>) -> (!torch.vtensor<[2,64],f16>, !torch.vtensor<[2,64],f16>, !torch.vtensor<[1,64],f16>, !torch.vtensor<[6,64],f16>, !torch.vtensor<[6,64],f16>) {
  %int0 = torch.constant.int 0
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  // The program computes them.
  // expected-note @below {{its indices are tensors}}
  %0 = torch.aten.index_select %x, %int0, %i : !torch.vtensor<[6,64],f16>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[2,64],f16>
  // They are not in order.
  %back = torch.vtensor.literal(dense<[3, 1]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  // expected-note @below {{its indices are tensors}}
  %1 = torch.aten.index_select %x, %int0, %back : !torch.vtensor<[6,64],f16>, !torch.int, !torch.vtensor<[2],si64> -> !torch.vtensor<[2,64],f16>
  // There is no such row: PyTorch says so.
  %far = torch.vtensor.literal(dense<[6]> : tensor<1xsi64>) : !torch.vtensor<[1],si64>
  // expected-note @below {{its indices are tensors}}
  %2 = torch.aten.index_select %x, %int0, %far : !torch.vtensor<[6,64],f16>, !torch.int, !torch.vtensor<[1],si64> -> !torch.vtensor<[1,64],f16>
  %rows = torch.vtensor.literal(dense<[1, 2]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %list = torch.prim.ListConstruct %rows : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  // It adds.
  // expected-note @below {{its indices are tensors}}
  %3 = torch.aten.index_put %x, %list, %v, %true : !torch.vtensor<[6,64],f16>, !torch.list<optional<vtensor>>, !torch.vtensor<[2,64],f16>, !torch.bool -> !torch.vtensor<[6,64],f16>
  %apart = torch.vtensor.literal(dense<[1, 4]> : tensor<2xsi64>) : !torch.vtensor<[2],si64>
  %list2 = torch.prim.ListConstruct %apart : (!torch.vtensor<[2],si64>) -> !torch.list<optional<vtensor>>
  // expected-note @below {{it writes every other element of a dim}}
  %4 = torch.aten.index_put %x, %list2, %v, %false : !torch.vtensor<[6,64],f16>, !torch.list<optional<vtensor>>, !torch.vtensor<[2,64],f16>, !torch.bool -> !torch.vtensor<[6,64],f16>
  return %0, %1, %2, %3, %4 : !torch.vtensor<[2,64],f16>, !torch.vtensor<[2,64],f16>, !torch.vtensor<[1,64],f16>, !torch.vtensor<[6,64],f16>, !torch.vtensor<[6,64],f16>
}
