// Hopper's matrix instructions (wgmma, compute capability 9.0), as inline PTX.
//
// A warpgroup is 128 work-items that give orders to the tensor cores together: 64 rows of A, of which
// each work-item has its elements in registers, times NWG columns of B in local memory. The orders are
// carried out while the work-items go on; until they have waited for the end, no register of an order
// may change. Compilers move variables about, so the sums are registers that they do not see: s00 to
// s07, s10 to s17 and so on, and p00... for sums that are added to those later.
//
//   NWG   the columns of B, a multiple of 16 from 64 to 256, two for each register
#pragma once

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

#define EIGHT(set, row) \
    set row "0, " set row "1, " set row "2, " set row "3, " \
    set row "4, " set row "5, " set row "6, " set row "7"
#define REGISTERS_64(set) \
    EIGHT(set, "0") ", " EIGHT(set, "1") ", " EIGHT(set, "2") ", " EIGHT(set, "3")
#define REGISTERS_80(set) REGISTERS_64(set) ", " EIGHT(set, "4")
#define REGISTERS_96(set) REGISTERS_80(set) ", " EIGHT(set, "5")
#define REGISTERS_112(set) REGISTERS_96(set) ", " EIGHT(set, "6")
#define REGISTERS_128(set) REGISTERS_112(set) ", " EIGHT(set, "7")
#define REGISTERS_144(set) REGISTERS_128(set) ", " EIGHT(set, "8")
#define REGISTERS_160(set) REGISTERS_144(set) ", " EIGHT(set, "9")
#define REGISTERS_176(set) REGISTERS_160(set) ", " EIGHT(set, "a")
#define REGISTERS_192(set) REGISTERS_176(set) ", " EIGHT(set, "b")
#define REGISTERS_208(set) REGISTERS_192(set) ", " EIGHT(set, "c")
#define REGISTERS_224(set) REGISTERS_208(set) ", " EIGHT(set, "d")
#define REGISTERS_240(set) REGISTERS_224(set) ", " EIGHT(set, "e")
#define REGISTERS_256(set) REGISTERS_240(set) ", " EIGHT(set, "f")
// All registers of a set, as a list.
#define REGISTERS(set) EXPAND(REGISTERS_, NWG)(set)

#define ROWS_64(M) M("0") M("1") M("2") M("3")
#define ROWS_80(M) ROWS_64(M) M("4")
#define ROWS_96(M) ROWS_80(M) M("5")
#define ROWS_112(M) ROWS_96(M) M("6")
#define ROWS_128(M) ROWS_112(M) M("7")
#define ROWS_144(M) ROWS_128(M) M("8")
#define ROWS_160(M) ROWS_144(M) M("9")
#define ROWS_176(M) ROWS_160(M) M("a")
#define ROWS_192(M) ROWS_176(M) M("b")
#define ROWS_208(M) ROWS_192(M) M("c")
#define ROWS_224(M) ROWS_208(M) M("d")
#define ROWS_240(M) ROWS_224(M) M("e")
#define ROWS_256(M) ROWS_240(M) M("f")
// M(row) for each eight registers.
#define FOR_ROWS(M) EXPAND(ROWS_, NWG)(M)

#define ADD(element) "add.f32 s" element ", s" element ", p" element ";\n"
#define ADD_ROW(row) \
    ADD(row "0") ADD(row "1") ADD(row "2") ADD(row "3") ADD(row "4") ADD(row "5") ADD(row "6") ADD(row "7")
// s += p.
#define ADD_PARTS() asm volatile(FOR_ROWS(ADD_ROW) ::: "memory")

#define CLEAR(element) "mov.f32 s" element ", 0f00000000;\n"
#define CLEAR_ROW(row) \
    CLEAR(row "0") CLEAR(row "1") CLEAR(row "2") CLEAR(row "3") \
    CLEAR(row "4") CLEAR(row "5") CLEAR(row "6") CLEAR(row "7")

// Once, before anything else here. The driver compiles for what Hopper has in common with later GPUs
// (sm_90); these instructions are Hopper's own. `go_on` is true and `begin` false.
#define DECLARE_SUMS() \
    asm volatile(".target sm_90a\n" \
                 ".reg .f32 " REGISTERS("s") ";\n" \
                 ".reg .f32 " REGISTERS("p") ";\n" \
                 ".reg .pred begin, go_on;\n" \
                 "setp.ne.u32 begin, %0, %0;\n" \
                 "setp.eq.u32 go_on, %0, %0;\n" \
                 FOR_ROWS(CLEAR_ROW) :: "r"(0))

// Between the last change of registers and the first order.
#define BEGIN_ORDERS() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
// Adds 8 products to each sum of a set, or begins it anew: `how` is "go_on" or "begin".
#define ORDER(set, how, of_a, of_b) \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" STRING(NWG) "k8.f32.tf32.tf32 " \
                 "{" REGISTERS(set) "}, {%0, %1, %2, %3}, %4, " how ", 1, 1;" \
                 :: "r"((of_a)[0]), "r"((of_a)[1]), "r"((of_a)[2]), "r"((of_a)[3]), "l"(of_b) : "memory")
#define END_ORDERS() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define USES(x) \
    "r"((x)[0][0]), "r"((x)[0][1]), "r"((x)[0][2]), "r"((x)[0][3]), \
    "r"((x)[1][0]), "r"((x)[1][1]), "r"((x)[1][2]), "r"((x)[1][3]), \
    "r"((x)[2][0]), "r"((x)[2][1]), "r"((x)[2][2]), "r"((x)[2][3]), \
    "r"((x)[3][0]), "r"((x)[3][1]), "r"((x)[3][2]), "r"((x)[3][3])
// Until all orders are carried out. To name their elements of A here keeps those registers as they are.
#define WAIT_FOR_ORDERS(x, y) \
    asm volatile("wgmma.wait_group.sync.aligned 0;" :: USES(x), USES(y) : "memory")

// Eight sums as variables.
#define TAKE_SUMS(row, x) \
    asm volatile("mov.f32 %0, s" row "0;\n mov.f32 %1, s" row "1;\n" \
                 "mov.f32 %2, s" row "2;\n mov.f32 %3, s" row "3;\n" \
                 "mov.f32 %4, s" row "4;\n mov.f32 %5, s" row "5;\n" \
                 "mov.f32 %6, s" row "6;\n mov.f32 %7, s" row "7;\n" \
                 : "=f"((x)[0]), "=f"((x)[1]), "=f"((x)[2]), "=f"((x)[3]), \
                   "=f"((x)[4]), "=f"((x)[5]), "=f"((x)[6]), "=f"((x)[7]))

// Before what ordinary instructions have written to local memory is read by orders.
#define SHOW_TO_ORDERS() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")

// Local memory as orders name it: lines of 128 bytes, 8 of them side by side, whose 16-byte chunks are
// exchanged (number c of line r is in place c ^ (r % 8)) so that the banks are different ones. The
// beginning of eight lines is a multiple of 1024.
inline ulong lines_at(__local const float* begin) {
    return (ulong)1 << 62 | (ulong)(1024 / 16) << 32 | (ulong)1 << 16 | (uint)(size_t)begin / 16;
}
