extension BinaryInteger {
    /// Lowercase hexadecimal digits with leading zeros, of a number that is not negative.
    package func hexadecimal(digits: Int) -> String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
}
