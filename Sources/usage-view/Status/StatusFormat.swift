import ArgumentParser
import Essentials
import TerminalText
import UsageState

/// The form in which a status line is printed.
enum StatusFormat: Sendable, Equatable {
    case named(Name)
    case template(StatusTemplate)

    enum Name: String, Sendable, CaseIterable {
        case tmux, waybar, polybar, i3bar, starship, plain
    }

    /// A name, or else a template.
    init(_ text: String) throws {
        if let name = Name(rawValue: text) {
            self = .named(name)
        } else if text.contains("{") {
            self = .template(try StatusTemplate(text))
        } else {
            throw ValidationError(
                "unknown format '\(text)': use \(Name.allCases.map(\.rawValue).joined(separator: ", ")), "
                    + "or a template such as '{provider} {percent}'")
        }
    }

    /// Whether it shows the pace, which learns from the history.
    var hasPace: Bool {
        if case .template(let template) = self { template.hasPace } else { false }
    }

    /// The tags of colors around text, and how text is kept from being one.
    var markup: StatusMarkup {
        switch self {
        case .named(.tmux): .tmux
        case .named(.polybar): .polybar
        case .named, .template: .none
        }
    }
}

/// How a program that draws lines writes colors into them.
enum StatusMarkup: Sendable {
    case none
    /// `#[fg=red]`; a number sign is doubled.
    case tmux
    /// `%{F#RRGGBB}`; it has no escape, so a space breaks what would be a tag.
    case polybar

    func render(_ line: StyledLine) -> String {
        line.spans.map { span in
            let text = escape(span.text)
            guard let color = span.style.color else { return text }
            return switch self {
            case .none: text
            case .tmux: "#[fg=\(color.name)]\(text)#[fg=default]"
            case .polybar: "%{F\(color.hexadecimal)}\(text)%{F-}"
            }
        }.joined()
    }

    private func escape(_ text: String) -> String {
        switch self {
        case .none: text
        case .tmux: text.replacing("#", with: "##")
        case .polybar: text.replacing("%{", with: "% {")
        }
    }
}

extension TextStyle.Color {
    /// As tmux names it.
    var name: String {
        switch self {
        case .red: "red"
        case .yellow: "yellow"
        case .green: "green"
        case .magenta: "magenta"
        case .cyan: "cyan"
        }
    }

    /// For programs without a palette; readable on black and on white.
    var hexadecimal: String {
        switch self {
        case .red: "#e0443e"
        case .yellow: "#b58900"
        case .green: "#4e9a06"
        case .magenta: "#c061cb"
        case .cyan: "#06989a"
        }
    }
}
