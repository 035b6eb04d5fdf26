//! How a type gets an arena of its own.

/// Gives an item type an arena and its lists per thread: `home!(Node);`, with functions to be told
/// by if its items have owners: `home!(Node, wake, rest);`
#[macro_export]
macro_rules! home {
    ($T:ty $(, $wake:ident, $rest:ident)?) => {
        const _: () = {
            use $crate::graph::arena::{Arena, Home, Local};
            static ARENA: Arena<$T> = Arena::new();
            $crate::threads::thread_local!(static LOCAL: Local<$T> = const { Local::new() });
            impl Home for $T {
                fn arena() -> &'static Arena<$T> {
                    &ARENA
                }
                fn local<R>(f: impl FnOnce(&Local<$T>) -> R) -> Option<R> {
                    LOCAL.try_with(f).ok()
                }
                $(
                    fn wake(&self) {
                        <$T>::$wake(self);
                    }
                    fn rest(&self, is_alone: &dyn Fn() -> bool) {
                        <$T>::$rest(self, is_alone);
                    }
                )?
            }
        };
    };
}
