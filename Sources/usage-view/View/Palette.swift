import TerminalText

/// The colors of a theme, by what they say; each is readable as text on every background of its kind.
struct Palette: Sendable {
    /// The four levels of urgency.
    let comfortable: TextStyle.RGB
    let watch: TextStyle.RGB
    let low: TextStyle.RGB
    let critical: TextStyle.RGB
    /// Text that matters less.
    let dim: TextStyle.RGB

    static let dark = Palette(
        comfortable: .init(0x56C271), watch: .init(0xD9C54A), low: .init(0xFF9F43), critical: .init(0xFF6B6B),
        dim: .init(0x9AA0A6))
    static let light = Palette(
        comfortable: .init(0x1A7F37), watch: .init(0x7A6200), low: .init(0xA24A00), critical: .init(0xC62828),
        dim: .init(0x5F6368))

    /// What stands for one of the terminal's own colors.
    subscript(color: TextStyle.Color) -> TextStyle.RGB {
        switch color {
        case .green: comfortable
        case .cyan: watch
        case .yellow: low
        case .red, .magenta: critical
        }
    }
}

extension TextStyle.RGB {
    fileprivate init(_ hex: UInt32) {
        self.init(red: UInt8(hex >> 16 & 0xFF), green: UInt8(hex >> 8 & 0xFF), blue: UInt8(hex & 0xFF))
    }
}
