"""How loops are compiled: what only other loops call is linked into these, not made for itself.

numba turns every loop into machine code as soon as it is compiled. One without a way in from Python
is run by nobody: its callers hold a copy of it. Without that step a family compiles sooner, and
what its callers become is the same. Where an inner loop is loaded from disk, numba does the step
after all. Nor is it optimised before it stands in its callers, unless sums may be reordered in it.

This leans on parts of numba that are not public, so it is done for the releases that it was tested
with, where these parts are found; elsewhere :data:`WAYS` is empty and loops are compiled by
numba itself. Which of the two holds depends on the release of numba alone, as its files of
compiled code do. Pickled loops come back as numba's own.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numba

codegen: Any
compiler: Any
errors: Any
try:
    from numba.core import codegen, compiler, errors
except ImportError:  # they are elsewhere one day
    codegen = compiler = errors = None

NEWEST = (0, 68)  # that was tested; see tests/test_compiled.py
ENVIRONMENTS = "_ZN08NumbaEnv"  # how the names of numba's pointers to environments begin
PENDING = ".numba.unresolved$"  # and those of loops that call each other

# numba has no types of its own.
JITLibrary: Any = getattr(codegen, "JITCodeLibrary", object)
Compiler: Any = getattr(compiler, "Compiler", object)
NumbaFlags: Any = getattr(compiler, "Flags", object)


class InnerLibrary(JITLibrary):
    """Optimised code of a loop, to be linked into its callers."""

    way_in = ""  # the name of its way in from Python, see refuse_python
    late = False  # whether it is optimised in its callers alone

    def _optimize_final_module(self) -> None:
        if not self.late:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        names = [variable.name for variable in self._final_module.global_variables]
        if any(name.startswith(PENDING) for name in names):  # its code is asked for by address
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._make_environments([name for name in names if name.startswith(ENVIRONMENTS)])
        self._finalized = True

    def _make_environments(self, names: list[str]) -> None:
        """Make the pointers to environments, which numba sets now and all callers will share."""
        engine = self._codegen._engine
        lines = [
            str(self._final_module.get_global_variable(name))
            for name in names
            if not engine.is_symbol_defined(name)
        ]
        if lines:
            text = "\n".join([str(self._codegen._create_empty_module(self.name)), *lines])
            self._codegen._add_module(codegen.ll.parse_assembly(text))
            engine.finalize_object()

    def get_pointer_to_function(self, name: str) -> int:
        made = int(super().get_pointer_to_function(name))
        return made or (REFUSAL if name == self.way_in else 0)

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What is kept on disk, in the form that numba has for code that is not yet made."""
        return self.name, "bitcode", self._get_module_for_linking().as_bitcode()


# Takes what the way in from Python takes, and finds that a loop's closure cannot be called.
REFUSAL = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value or 0


def refuse_python(library: Any, fndesc: Any, *_: Any, **__: Any) -> None:
    """Give a loop a way in from Python that raises a TypeError: a pointer to nothing would crash.

    Stands for numba's ``create_cpython_wrapper``, which takes a good part of compiling.
    """
    from llvmlite import ir

    module = library.create_ir_module("wrapper")
    pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(pointer, [pointer] * 3)
    wrapper = ir.Function(module, kind, fndesc.llvm_cpython_wrapper_name)
    builder = ir.IRBuilder(wrapper.append_basic_block())
    refusal = ir.Function(module, kind, "PyObject_Call")
    builder.ret(builder.call(refusal, wrapper.args))
    library.add_ir_module(module)
    library.way_in = wrapper.name


class Flags(NumbaFlags):
    """numba's flags, which are compared at every call that it finds in a loop, many thousand times.

    They differ where their values do; those that are as set are not asked for their defaults.
    """

    def __hash__(self) -> int:
        return _HASH

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumbaFlags) and self._values == other._values:
            return True
        return bool(super().__eq__(other))


class LoopCompiler(Compiler):
    """numba's own compiler."""

    def _compile_core(self) -> Any:
        flags = self.state.flags = Flags(self.state.flags)
        # No loop here is called through a C pointer: the wrapper would only cost compile time.
        flags.no_cfunc_wrapper = True
        return super()._compile_core()


class InnerCompiler(LoopCompiler):
    """For loops that are to be linked."""

    def define_pipelines(self) -> Any:
        state = self.state
        made_by = state.targetctx.codegen()
        if state.library is None and made_by._library_class is JITLibrary:
            state.library = InnerLibrary(made_by, state.func_id.func_qualname)
            state.library.enable_object_caching()
            # Where sums may be reordered, rounding would depend on what is optimised when.
            state.library.late = "reassoc" not in state.flags.fastmath.flags
            state.targetctx.create_cpython_wrapper = refuse_python  # a copy, for this loop alone
        return super().define_pipelines()


def guard(loop: Any, *, inner: bool) -> None:
    """Let calls that a loop has no way in for raise errors before they are compiled."""
    name = loop.py_func.__name__

    def refuse_pointer(signature: Any) -> Any:
        raise errors.TypingError(f"{name} is called by its name alone, not through a pointer")

    def refuse(*_: Any, **__: Any) -> Any:
        raise TypeError(f"{name} is called by other compiled loops alone, not from Python")

    loop.get_compile_result = refuse_pointer
    if inner:
        loop._compile_for_args = refuse
        loop._insert = _know_nothing  # what Python's way in may look up


def _know_nothing(*_: Any, **__: Any) -> None:
    """Stands for the table of what can be called from Python."""


def _ways() -> dict[bool, Callable[..., Any]]:
    """Compilers of loops, by whether they are inner; none where numba is not as expected."""
    asked = [
        (
            JITLibrary,
            "_finalize_final_module _finalize_dynamic_globals _verify_declare_only_symbols "
            "_optimize_final_module "
            "_ensure_finalized _get_module_for_linking get_pointer_to_function "
            "enable_object_caching create_ir_module add_ir_module serialize_using_object_code",
        ),
        (Compiler, "_compile_core define_pipelines"),
        (NumbaFlags, "no_cfunc_wrapper no_cpython_wrapper fastmath"),
        (getattr(codegen, "JITCPUCodegen", None), "_library_class _add_module"),
        (getattr(codegen, "JitEngine", None), "is_symbol_defined finalize_object"),
        (getattr(codegen, "ll", None), "parse_assembly"),
    ]
    try:
        release = tuple(int(part) for part in numba.__version__.split(".")[:2])
        found = all(hasattr(part, name) for part, names in asked for name in names.split())
        one, other = NumbaFlags(), NumbaFlags()
        other.no_cfunc_wrapper = True
        alike = hash(one) == hash(other) and one._values != other._values and one != other
    except (AttributeError, TypeError, ValueError):
        return {}
    if not (release <= NEWEST and found and alike and REFUSAL):
        return {}
    return {True: InnerCompiler, False: LoopCompiler}


WAYS = _ways()
_HASH = hash(NumbaFlags())  # that of all flags
