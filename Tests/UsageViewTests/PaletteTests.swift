import Foundation
import TerminalText
import Testing

@testable import usage_view

/// Contrast as the Web Content Accessibility Guidelines define it.
@Suite("Colors can be read")
struct PaletteTests {
    private struct RGB {
        let parts: [Double]

        init(_ hex: Int) { parts = [16, 8, 0].map { Double(hex >> $0 & 0xFF) / 255 } }
        init(_ color: TextStyle.RGB) {
            parts = [color.red, color.green, color.blue].map { Double($0) / 255 }
        }

        var luminance: Double {
            zip(parts, [0.2126, 0.7152, 0.0722]).reduce(0) { sum, part in
                let (value, weight) = part
                return sum + weight * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
            }
        }

        func contrast(with other: RGB) -> Double {
            let (one, two) = (luminance + 0.05, other.luminance + 0.05)
            return max(one, two) / min(one, two)
        }
    }

    private static let styles: [TextStyle] =
        [.plain, .dim, .bold] + [.green, .cyan, .yellow, .red].map(TextStyle.colored)

    @Test("each color of a palette has 4.5:1 as text, and so 3:1 as a bar, on the backgrounds of its kind")
    func palettes() throws {
        let themes: [(theme: ViewSettings.Theme, backgrounds: [Int])] = [
            (.dark, [0x000000, 0x0D1117, 0x171421, 0x1E1E1E, 0x002B36]),
            (.light, [0xFFFFFF, 0xFAFAFA, 0xF5F5F5, 0xFDF6E3]),
        ]
        for (theme, backgrounds) in themes {
            for style in Self.styles {
                guard let color = theme.style(style).rgb else {
                    #expect(style.color == nil && !style.isDim, "it is the terminal's own")
                    continue
                }
                for background in backgrounds {
                    let contrast = RGB(color).contrast(with: RGB(background))
                    #expect(contrast >= 4.5, "\(theme) \(style) on \(String(background, radix: 16)): \(contrast)")
                }
            }
        }
    }

    @Test("the four levels of a palette are four colors")
    func levels() {
        for theme in [ViewSettings.Theme.dark, .light, .terminal] {
            let codes = [TextStyle.Color.green, .cyan, .yellow, .red].map { color in
                ANSI.render(StyledLine("x", theme.style(.colored(color))), isColored: true)
            }
            #expect(Set(codes).count == 4)
        }
    }

    /// The colors of terminals as they are delivered.
    private static let terminals: [(name: String, text: Int, background: Int, red: Int, green: Int, yellow: Int)] = [
        ("xterm", 0xFFFFFF, 0x000000, 0xCD0000, 0x00CD00, 0xCDCD00),
        ("xterm, light", 0x000000, 0xFFFFFF, 0xCD0000, 0x00CD00, 0xCDCD00),
        ("GNOME", 0xD0CFCC, 0x171421, 0xC01C28, 0x26A269, 0xA2734C),
        ("GNOME, light", 0x171421, 0xFFFFFF, 0xC01C28, 0x26A269, 0xA2734C),
        ("Solarized dark", 0x839496, 0x002B36, 0xDC322F, 0x859900, 0xB58900),
        ("Solarized light", 0x657B83, 0xFDF6E3, 0xDC322F, 0x859900, 0xB58900),
        ("macOS Terminal, Basic", 0x000000, 0xFFFFFF, 0x990000, 0x00A600, 0x999900),
        ("macOS Terminal, Pro", 0xF2F2F2, 0x000000, 0x990000, 0x00A600, 0x999900),
    ]

    @Test("faint text is not readable on a terminal that mixes it with its light background")
    func faint() {
        for terminal in Self.terminals where RGB(terminal.background).luminance > 0.5 {
            let (text, background) = (RGB(terminal.text), RGB(terminal.background))
            let mixed = zip(text.parts, background.parts).map { ($0 + $1) / 2 }
            let hex = mixed.reduce(0) { $0 << 8 | Int($1 * 255) }
            #expect(RGB(hex).contrast(with: background) < 4.5, "\(terminal.name)")
        }
    }

    @Test("so no text is faint in any theme, and without a color it is what the terminal writes")
    func dim() {
        for theme in ViewSettings.Theme.allCases {
            for style in Self.styles {
                let text = ANSI.render(StyledLine("x", theme.style(style)), isColored: true)
                #expect(!text.contains("[2m") && !text.contains(";2m") && !text.contains("[2;"), "\(theme)")
            }
        }
        #expect([StyledLine("x", .dim)].text(isColored: true) == "x\n")
        for terminal in Self.terminals {
            #expect(RGB(terminal.text).contrast(with: RGB(terminal.background)) >= 4.1, "\(terminal.name)")
        }
    }

    @Test("on a light background a terminal's own colors have too little contrast, so there is a theme for it")
    func own() {
        for terminal in Self.terminals where RGB(terminal.background).luminance > 0.5 {
            let colors = [terminal.red, terminal.green, terminal.yellow].map(RGB.init)
            #expect(colors.contains { $0.contrast(with: RGB(terminal.background)) < 4.5 }, "\(terminal.name)")
        }
        for terminal in Self.terminals where RGB(terminal.background).luminance < 0.5 {
            let colors = [terminal.green, terminal.yellow].map(RGB.init)
            #expect(colors.allSatisfy { $0.contrast(with: RGB(terminal.background)) >= 4.3 }, "\(terminal.name)")
        }
    }

    @Test("a terminal without 24 bits gets its own colors")
    func fallback() {
        for theme in ViewSettings.Theme.allCases {
            #expect(theme.supported(hasTrueColor: true) == theme)
            #expect(theme.supported(hasTrueColor: false).palette == nil)
        }
        for (value, isSupported) in [("truecolor", true), ("24bit", true), ("1", false), ("", false)] {
            #expect(ColorPolicy.hasTrueColor(environment: ["COLORTERM": value]) == isSupported)
        }
        #expect(!ColorPolicy.hasTrueColor(environment: [:]))
        var state = LiveState()
        state.settings.theme = .light
        state.hasTrueColor = false
        let listing = SettingsSection.listing(state.settings, columns: 80, hasTrueColor: state.hasTrueColor, width: 60)
        #expect(listing.items.last?.lines[0].plainText.contains("needs COLORTERM=truecolor") == true)
    }
}
