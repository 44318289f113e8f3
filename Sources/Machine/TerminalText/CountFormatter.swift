/// Large numbers in a few cells.
package enum CountFormatter {
    /// "812", "31k", "1.2M".
    package static func abbreviated(_ count: Int) -> String {
        let units = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")]
        guard let (unit, letter) = units.first(where: { count >= $0.0 }) else { return "\(count)" }
        let tenths = count / (unit / 10)
        let isShort = tenths < 100 && unit > 1_000
        return (isShort ? "\(tenths / 10).\(tenths % 10)" : "\(tenths / 10)") + letter
    }
}
