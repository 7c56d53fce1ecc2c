# Retrograd: `make demo` and `make test` are all that a fresh machine needs.
BUILD ?= build
PYTHON ?= python3
MESON_FLAGS ?=

all: build

# Installs what is missing (Debian, when root or with sudo), configures, compiles.
build: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@scripts/setup
	@meson setup $(BUILD) $(MESON_FLAGS)

demo: build
	$(BUILD)/examples/cow/cow examples/cow/spot.obj examples/cow/cow.c cow.png

test: test-setup $(BUILD)/build.ninja
	@grep -q unit_test_ir $(BUILD)/build.ninja || meson setup --reconfigure $(BUILD)
	@ninja -C $(BUILD)
	@$(PYTHON) tests/run.py --build $(BUILD) $(TESTS)

# Arrays of more than 2^32 elements: 14 GB of memory, a minute.
test-large: build
	@ninja -C $(BUILD) tests/large_test
	@$(BUILD)/tests/large_test

bench: build
	@$(PYTHON) bench/run.py --build $(BUILD) $(BENCH)

test-setup:
	@scripts/setup test

# All tests again under the address and undefined-behaviour sanitizers.
sanitize:
	@scripts/setup test
	@test -f $(BUILD)-sanitize/build.ninja || meson setup $(BUILD)-sanitize \
	  -Db_sanitize=address,undefined -Dverify=true -Db_lundef=false
	@ninja -C $(BUILD)-sanitize
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  $(PYTHON) tests/run.py --build $(BUILD)-sanitize --sanitized $(TESTS)

# N=20000 random kernels, as many wrong ones and as many stencils: minutes to hours.
N ?= 20000
SEED ?= 1
fuzz: build
	@$(PYTHON) tests/fuzz/wrong.py --build $(BUILD) --count $(N) --seed $(SEED)
	@$(PYTHON) tests/fuzz/fuzz.py --build $(BUILD) --count $(N) --seed $(SEED) \
	  --devices ref,cpu,cpu+checked
	@$(PYTHON) tests/fuzz/fuzz.py --build $(BUILD) --count $(N) --seed $(SEED) --devices ref,cpu \
	  --stencils

# C that is laid out by .clang-format (version 14). Kernels that tests refuse or print are laid out
# as their test needs; springs.c is the one that the README shows (bench has its copy).
FORMATTED = find src include tests examples bench -name '*.[ch]' -not -path 'tests/errors/*' \
  -not -path 'tests/kernels/*' -not -name springs.c

format:
	@$(FORMATTED) | xargs clang-format -i

# Fails, naming the lines, when `make format` would change something.
format-check:
	@$(FORMATTED) | xargs clang-format --dry-run --Werror

install: build
	@ninja -C $(BUILD) install

clean:
	@rm -rf $(BUILD) $(BUILD)-sanitize

.PHONY: all build demo test test-large test-setup bench sanitize fuzz format format-check install clean
