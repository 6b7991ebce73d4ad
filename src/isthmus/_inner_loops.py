"""How loops are compiled: what only other loops call is linked into these, not made for itself.

numba turns every loop into machine code as soon as it is compiled. One without a way in from Python
is run by nobody: its callers hold a copy of it. Without that step a family compiles sooner, and
what its callers become is the same. Where an inner loop is loaded from disk, numba does the step
after all.
"""

from __future__ import annotations

from typing import Any

from numba.core import codegen, compiler

# numba has no types of its own.
JITLibrary: Any = codegen.JITCodeLibrary
Compiler: Any = compiler.Compiler
NumbaFlags: Any = compiler.Flags
_HASH = hash(NumbaFlags())  # that of all flags


class _NoEngine:
    """What numba asks of an engine that has the code of a loop; here it has none."""

    def set_env(self, name: str, environment: Any) -> None:
        """Environments are set in the callers: see :class:`OuterCompiler`."""


class InnerLibrary(JITLibrary):
    """Optimised code of a loop, to be linked into its callers."""

    @property
    def codegen(self) -> Any:
        return _NoEngine()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # numba's word for none

    def serialize_using_object_code(self) -> tuple[str, str, bytes]:
        """What is kept on disk, in the form that numba has for code that is not yet made."""
        return self.name, "bitcode", self._get_module_for_linking().as_bitcode()


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
        self.state.flags = Flags(self.state.flags)
        return super()._compile_core()


class InnerCompiler(LoopCompiler):
    """For loops that are to be linked."""

    def define_pipelines(self) -> Any:
        state = self.state
        if state.library is None:
            made_by = state.targetctx.codegen()
            state.library = InnerLibrary(made_by, state.func_id.func_qualname)
            state.library.enable_object_caching()
        return super().define_pipelines()


class OuterCompiler(LoopCompiler):
    """For loops that may call such ones."""

    def _compile_core(self) -> Any:
        result = super()._compile_core()
        # As numba does when it loads a loop: those of the loops inside are asked for by name.
        for environment in result._find_referenced_environments():
            result.codegen.set_env(environment.env_name, environment)
        return result
