# How a sample is built, from its kernel to a run. A sample's Makefile sets NAME and T and includes this.
#
#   make            compile $(NAME).tdl to an object and a header, main.cpp with them to a program, in $(OUT)
#   make run        run it on RANKS ranks: on the shapes named in SHAPES, or on the program's own list
#   make check      without any C++: run the kernel on generated data and compare with the reference interpreter
#   make clean
#
# Overridable: T (element type: f32, bf16, f16), RANKS, SHAPES, OUT, CXX, CXXFLAGS, and where things are:
# TDL (the source folder), TDLC, TDLRUN, TDL_LIB.

TDL      ?= $(abspath $(dir $(lastword $(MAKEFILE_LIST)))../..)
TDLC     ?= $(TDL)/build/release/src/tools/tdlc
TDLRUN   ?= $(TDL)/build/release/src/tools/tdlrun
TDL_LIB  ?= $(TDL)/build/release/runtime/libtdl.a
CXXFLAGS ?= -O2 -Wall -Wextra
OUT      ?= build
RANKS    ?= 4

$(OUT)/$(NAME): main.cpp $(OUT)/$(NAME).o $(OUT)/$(NAME).h $(wildcard $(TDL)/samples/common/*.h) $(TDL_LIB)
	$(CXX) -std=c++17 $(CXXFLAGS) -DTYPE=$(T) -I$(OUT) -I$(TDL)/runtime/include \
	    main.cpp $(OUT)/$(NAME).o $(TDL_LIB) -pthread -o $@

$(OUT)/$(NAME).o $(OUT)/$(NAME).h &: $(NAME).tdl $(TDLC)
	@mkdir -p $(OUT)
	$(TDLC) -c -D T=$(T) -o $(OUT)/$(NAME).o -H $(OUT)/$(NAME).h $(NAME).tdl

.PHONY: run check clean
run: $(OUT)/$(NAME)
	$(TDLRUN) -n $(RANKS) $(OUT)/$(NAME) $(SHAPES)
check:
	$(TDLRUN) -n $(RANKS) -D T=$(T) $(NAME).tdl:$(NAME) --check $(CHECK)
clean:
	rm -rf $(OUT)
