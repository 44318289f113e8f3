#if os(Linux) || os(Android)
    import Foundation

    /// The terminal calls that differ between systems, as Linux makes them.
    enum PlatformTerminal {
        /// nil where the descriptor is no terminal or has no size.
        static func size(of descriptor: Int32) -> ScreenSize? {
            var size = winsize()
            guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
                return nil
            }
            return ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
        }

        /// Calls `handler` for the next such signal only; the default follows.
        static func handleOnce(
            _ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void
        ) {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = handler
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_NODEFER)
            sigaction(number, &action, nil)
        }
    }
#endif
