// Polynomials are minimax fits (Remez in 50 digits) of the functions named beside them, evaluated by Horner's
// rule.
#include "codegen/common/elementary.h"
#include "codegen/common/llvm.h"
#include <limits>
#include <span>

namespace tdl::codegen {
using namespace llvm;

namespace {

using Table = std::span<const double>;

// (2^r - 1) / r for |r| <= 1/2
constexpr double kExp2F32[] = {0.69314718803246524926,   0.24022651084117759837,  0.055503570942439499943,
                               0.0096180307824263969834, 0.001339087136100676898, 0.00015469732004005899733};
constexpr double kExp2F64[] = {
    0.69314718055994530909,   0.24022650695910098227,    0.05550410866482165975,     0.0096181291076068846068,
    0.0013333558146396003039, 0.00015403530441741704031, 0.000015252733853280837517, 1.321544258490181055e-6,
    1.0178051728062465622e-7, 7.0725864869303439154e-9,  4.4566754680998843875e-10};
// (e^r - 1 - r) / r^2 for |r| <= ln(2) / 2
constexpr double kExpF32[] = {0.50000000269249014906, 0.16666576979686115649, 0.041666375286837815324,
                              0.008363178228966463673, 0.0013941111226919933787};
constexpr double kExpF64[] = {0.50000000000000010215,     0.16666666666666674522,   0.041666666666624151944,
                              0.0083333333333222159397,   0.0013888888917200946469, 0.00019841269886564586242,
                              0.000024801521316628522296, 2.7557242366561972929e-6, 2.7620078314811118336e-7,
                              2.511003863139111148e-8};
// log2((1 + s) / (1 - s)) / s in s^2, for (1 + s) / (1 - s) in [1/sqrt(2), sqrt(2)]
constexpr double kLog2F32[] = {2.885390079788871701, 0.96179884770012412384, 0.57671437679179763906,
                               0.43173608069737538206};
constexpr double kLog2F64[] = {2.8853900817779268114,  0.96179669392598982127, 0.5770780163454698068,
                               0.41219858585120453102, 0.32059853391152254768, 0.26233440255701869298,
                               0.22091184513186511362, 0.21367100652253219585};
// (tanh(x) / x - 1) / x^2 in x^2, for |x| <= 0.64
constexpr double kTanhF32[] = {-0.33333328268322973497, 0.13332694518227871545, -0.053838891714584662235,
                               0.020938700048478500945, -0.0060106399557855175582};
constexpr double kTanhF64[] = {
    -0.33333333333333317153,    0.13333333333323629115,     -0.053968253958632194566,
    0.021869488163687576953,    -0.0088632281198878559745,  0.0035920417322574730101,
    -0.0014552040715267922741,  0.00058704179548629844532,  -0.0002298815965790806355,
    0.000078483338334154217509, -0.000016654808584203129844};
// erf(x) / x in x^2, for |x| <= 1
constexpr double kErfF32[] = {1.1283791657286438251,     -0.37612625830041847063,  0.11283585152170845065,
                              -0.026853810044828472677,  0.0051883209129812660488, -0.00080101103300962391802,
                              0.000078535175214904160029};
constexpr double kErfF64[] = {
    1.1283791670955125739,     -0.3761263890318375237,      0.11283791670955119745,
    -0.02686617064512973381,   0.0052239776254220846576,    -0.00085483270218528366652,
    0.00012055332899331085683, -0.000014925647464041574832, 1.64620433809386175e-6,
    -1.6364613985422926398e-7, 1.4792141133360637465e-8,    -1.2163011083676217648e-9,
    8.7036720135002236597e-11, -4.2226995319550485835e-12};
// log2(1 - erf(x)) in x - 1, for x in [1, 4] and [1, 6]
constexpr double kErfcF32[] = {-2.6684166969741257632,    -3.8072253462630228484,
                               -1.2163464059922117728,    -0.059963426463448034901,
                               0.014493964342925779274,   -0.0029026513532480241933,
                               0.00041769915228461158671, -0.000031287113316397449224};
constexpr double kErfcF64[] = {
    -2.6684166967815996559,     -3.8072253458535859637,     -1.2163466576872247877,
    -0.05995999001467782857,    0.014475749827009657029,    -0.002853508275087534406,
    0.00034237524244476235548,  0.000037937583160076072568, -0.000039239827920441804694,
    0.000013952854499206463519, -3.0757463738544287488e-6,  2.9548696751224380687e-7,
    8.368970809282318834e-8,    -4.8172044018009161016e-8,  1.2289607682772077075e-8,
    -1.9029927897876614864e-9,  1.7214323676399619124e-10,  -7.0183743586272485743e-12};

/// The parts of an IEEE type that the functions need.
struct Format {
    IRBuilderBase &b;
    Type *type;
    bool wide; // double
    unsigned bits, mantissa;
    int64_t bias;

    Format(IRBuilderBase &builder, Value *x)
        : b(builder), type(x->getType()), wide(type->getScalarType()->isDoubleTy()), bits(wide ? 64 : 32),
          mantissa(wide ? 52 : 23), bias(wide ? 1023 : 127) {}

    Value *num(double v) const { return ConstantFP::get(type, v); }
    Value *word(Value *shape, int64_t v) const { return ConstantInt::getSigned(intType(shape, bits), v); }
    Table pick(Table f32, Table f64) const { return wide ? f64 : f32; }
    Value *fma(Value *x, Value *y, Value *z) const {
        return b.CreateIntrinsic(Intrinsic::fmuladd, {type}, {x, y, z});
    }
    Value *polynomial(Value *x, Table c) const {
        Value *r = num(c.back());
        for (size_t i = c.size() - 1; i-- > 0;) r = fma(r, x, num(c[i]));
        return r;
    }
    // NaN stays
    Value *atLeast(Value *x, double low) const {
        return b.CreateSelect(b.CreateFCmpOLT(x, num(low)), num(low), x);
    }
    Value *atMost(Value *x, double high) const {
        return b.CreateSelect(b.CreateFCmpOGT(x, num(high)), num(high), x);
    }
    Value *abs(Value *x) const { return b.CreateUnaryIntrinsic(Intrinsic::fabs, x); }
    Value *copySign(Value *x, Value *sign) const {
        return b.CreateBinaryIntrinsic(Intrinsic::copysign, x, sign);
    }
};

/// The nearest integer to x as a float and as an integer. Adding 1.5 * 2^mantissa leaves it in the low bits,
/// which needs no rounding instruction.
struct Nearest {
    Value *number, *integer;
    Nearest(const Format &f, Value *x) {
        double magic = f.wide ? 0x1.8p52 : 0x1.8p23;
        Value *shifted = f.b.CreateFAdd(x, f.num(magic));
        number = f.b.CreateFSub(shifted, f.num(magic));
        Value *bits = f.b.CreateBitCast(shifted, intType(x, f.bits));
        integer = f.b.CreateSub(bits, f.b.CreateBitCast(f.num(magic), bits->getType()));
    }
};

// x * 2^n in two steps, since neither overflow nor a subnormal result may come in between.
Value *scale(const Format &f, Value *x, Value *n) {
    Value *half = f.b.CreateAShr(n, 1), *rest = f.b.CreateSub(n, half);
    auto power = [&](Value *e) {
        return f.b.CreateBitCast(f.b.CreateShl(f.b.CreateAdd(e, f.word(e, f.bias)), f.mantissa), f.type);
    };
    return f.b.CreateFMul(f.b.CreateFMul(x, power(half)), power(rest));
}

Value *exp2InRange(const Format &f, Value *x) {
    Nearest n(f, x);
    Value *r = f.b.CreateFSub(x, n.number);
    Value *p = f.fma(f.polynomial(r, f.pick(kExp2F32, kExp2F64)), r, f.num(1));
    return scale(f, p, n.integer);
}

} // namespace

Value *emitExp2(IRBuilderBase &b, Value *x) {
    Format f(b, x);
    return exp2InRange(f, f.atMost(f.atLeast(x, f.wide ? -1080 : -152), f.wide ? 1025 : 129));
}

// e^x = 2^n e^r with r = x - n ln 2; ln 2 in two parts, of which n times the first is exact.
Value *emitExp(IRBuilderBase &b, Value *x) {
    Format f(b, x);
    x = f.atMost(f.atLeast(x, f.wide ? -746 : -104), f.wide ? 710 : 89);
    Nearest n(f, b.CreateFMul(x, f.num(1.4426950408889634074)));
    Value *r = f.fma(n.number, f.num(-(f.wide ? 0.693145751953125 : 0.693359375)), x);
    r = f.fma(n.number, f.num(-(f.wide ? 1.42860682030941723212e-6 : -2.12194440054690582e-4)), r);
    Value *square = b.CreateFMul(r, r);
    Value *p = f.fma(f.polynomial(r, f.pick(kExpF32, kExpF64)), square, r);
    return scale(f, b.CreateFAdd(p, f.num(1)), n.integer);
}

// x = m 2^e with m in [1/sqrt(2), sqrt(2)); log2(m) by s = (m - 1) / (m + 1).
Value *emitLog2(IRBuilderBase &b, Value *x) {
    Format f(b, x);
    Value *tiny = b.CreateFCmpOLT(x, f.num(f.wide ? 0x1p-1022 : 0x1p-126)); // subnormal: scaled up first
    Value *big = b.CreateFMul(x, f.num(f.wide ? 0x1p54 : 0x1p24));
    Value *bits = b.CreateBitCast(b.CreateSelect(tiny, big, x), intType(x, f.bits));
    int64_t sqrtHalf = f.wide ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
    Value *shifted = b.CreateSub(bits, f.word(bits, sqrtHalf));
    Value *e = b.CreateAShr(shifted, f.mantissa);
    Value *m = b.CreateBitCast(b.CreateSub(bits, b.CreateShl(e, f.mantissa)), f.type);
    // the exponent fits 32 bits: 64-bit integers have no vector conversion on most processors
    Value *exponent = b.CreateSIToFP(f.wide ? b.CreateTrunc(e, intType(x, 32)) : e, f.type);
    exponent = b.CreateFSub(exponent, b.CreateSelect(tiny, f.num(f.wide ? 54 : 24), f.num(0)));
    Value *s = b.CreateFDiv(b.CreateFSub(m, f.num(1)), b.CreateFAdd(m, f.num(1)));
    Value *p = f.polynomial(b.CreateFMul(s, s), f.pick(kLog2F32, kLog2F64));
    Value *r = f.fma(s, p, exponent);
    double inf = std::numeric_limits<double>::infinity();
    r = b.CreateSelect(b.CreateFCmpOEQ(x, f.num(0)), f.num(-inf), r);
    r = b.CreateSelect(b.CreateFCmpOEQ(x, f.num(inf)), x, r);
    Value *undefined = b.CreateFCmpULT(x, f.num(0)); // negative or NaN
    return b.CreateSelect(undefined, f.num(std::numeric_limits<double>::quiet_NaN()), r);
}

Value *emitTanh(IRBuilderBase &b, Value *x) {
    Format f(b, x);
    Value *a = f.abs(x), *z = b.CreateFMul(x, x);
    Value *small = f.fma(b.CreateFMul(f.polynomial(z, f.pick(kTanhF32, kTanhF64)), z), x, x);
    a = f.atMost(a, f.wide ? 20 : 10);
    Value *e = emitExp(b, b.CreateFAdd(a, a));
    Value *large = b.CreateFSub(f.num(1), b.CreateFDiv(f.num(2), b.CreateFAdd(e, f.num(1))));
    return b.CreateSelect(b.CreateFCmpOLT(a, f.num(0.64)), small, f.copySign(large, x));
}

Value *emitErf(IRBuilderBase &b, Value *x) {
    Format f(b, x);
    Value *a = f.atMost(f.abs(x), f.wide ? 6 : 4);
    Value *small = b.CreateFMul(x, f.polynomial(b.CreateFMul(x, x), f.pick(kErfF32, kErfF64)));
    Value *q = f.polynomial(b.CreateFSub(a, f.num(1)), f.pick(kErfcF32, kErfcF64));
    Value *large = b.CreateFSub(f.num(1), exp2InRange(f, q));
    return b.CreateSelect(b.CreateFCmpOLT(a, f.num(1)), small, f.copySign(large, x));
}

Value *emitSqrt(IRBuilderBase &b, Value *x) {
    return b.CreateUnaryIntrinsic(Intrinsic::sqrt, x);
}
Value *emitRsqrt(IRBuilderBase &b, Value *x) {
    return b.CreateFDiv(floatLike(x, 1), emitSqrt(b, x));
}

} // namespace tdl::codegen
