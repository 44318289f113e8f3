extension Double {
    /// The number in a form of C's `printf`, of which it is the only argument, such as `%.3g`.
    package func text(_ format: String) -> String { Self.text(format, [self]) }

    /// Without an exponent, rounded to a number of digits after the point.
    package func decimal(places: Int) -> String { Self.text("%.*f", [CInt(places), self]) }

    private static func text(_ format: String, _ arguments: [any CVarArg]) -> String {
        withVaList(arguments) { arguments in
            // The largest number has 309 digits before the point.
            String(unsafeUninitializedCapacity: 512) { buffer in
                buffer.withMemoryRebound(to: CChar.self) {
                    min(Int(vsnprintf($0.baseAddress, $0.count, format, arguments)), $0.count - 1)
                }
            }
        }
    }
}
