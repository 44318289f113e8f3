import ArgumentParser
import Foundation
import SnapshotModels
import TerminalText
import StoreTestSupport
import Testing
import UsageState

@testable import usage_view

@Suite("Formats of status lines")
struct StatusFormatTests {
    private let usage = InventedUsage()

    private var hostile: UsageData {
        usage.data(
            usage.account(
                "codex", [usage.window(95, label: InventedUsage.hostile)],
                name: InventedUsage.hostile, account: InventedUsage.hostile))
    }

    @Test("each format of several windows is as stored")
    func stored() throws {
        let formats = StatusFormat.Name.allCases.map(\.rawValue) + ["{provider}: {left} {{{clock}}}"]
        var text = ""
        for format in formats {
            text += "\(format)\n"
            for providers in [[], ["codex", "gemini", "cursor", "kimi", "amp"], ["nobody"]] {
                text += try usage.line(format, usage.several, providers: providers) + "\n"
            }
        }
        try Repository.expectScreen(text, equals: "status-formats")
    }

    @Test("hostile names stay text in each format, as stored")
    func hostileNames() throws {
        var text = ""
        for format in StatusFormat.Name.allCases.map(\.rawValue) + ["{provider} {window} {account}"] {
            let line = try usage.line(format, hostile)
            #expect(line.unicodeScalars.allSatisfy { !VisibleText.isHidden($0) }, "\(format): \(line)")
            text += "\(format)\n\(line)\n"
        }
        try Repository.expectScreen(text, equals: "status-hostile")
    }

    @Test("tmux gets no number sign but doubled ones and those of its own colors")
    func tmux() throws {
        let line = try usage.line("tmux", hostile)
        let rest = line.replacing("##", with: "").replacing("#[fg=red]95 % used#[fg=default]", with: "")
        #expect(line.contains("##[fg=red]##{pane_id}##(id)"))
        #expect(!rest.contains("#"))
    }

    @Test("polybar gets no tag but those of its own colors")
    func polybar() throws {
        let line = try usage.line("polybar", hostile)
        #expect(line.matches(of: /%\{[^}]*\}/).map { String($0.0) } == ["%{F#e0443e}", "%{F-}"])
    }

    @Test("Waybar gets Pango markup in which names are text, in one line of JSON")
    func waybar() throws {
        let line = try usage.line("waybar", hostile)
        #expect(!line.contains("\n"))
        let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        for member in ["text", "tooltip"] {
            let markup = try #require(object[member] as? String)
            let shown = try #require(text(ofMarkup: markup), "\(markup)")
            #expect(shown.contains(##"<b>&'"#[fg=red]"##))
        }
        #expect(object["class"] as? [String] == ["critical"])
        #expect(object["percentage"] as? Int == 95)
        #expect(object["alt"] as? String == "critical")
    }

    @Test("a class of Waybar says that a number is old, an estimate, reset or missing")
    func classes() throws {
        func classes(_ providers: [String]) throws -> [String]? {
            let line = try usage.line("waybar", usage.several, providers: providers)
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return object?["class"] as? [String]
        }
        #expect(try classes(["claude"]) == ["comfortable"])
        #expect(try classes(["codex"]) == ["low", "runs-out"])
        #expect(try classes(["gemini"]) == ["critical"])
        #expect(try classes(["kimi"]) == ["comfortable", "estimate"])
        #expect(try classes(["cursor"]) == ["expired"])
        #expect(try classes(["amp"]) == ["error"])
        #expect(try classes(["nobody"]) == ["empty"])
    }

    @Test("an unknown placeholder, brace or format is an error that names what there is")
    func errors() throws {
        func message(_ format: String) -> String {
            do {
                _ = try StatusFormat(format)
                return ""
            } catch { return "\(error)" }
        }
        #expect(message("{nope}").contains("unknown placeholder '{nope}'"))
        for field in StatusTemplate.Field.allCases {
            #expect(message("{nope}").contains("{\(field.rawValue)}"))
            #expect(message("{\(field.rawValue)}").isEmpty)
        }
        #expect(message("{used").contains("has no '}'"))
        #expect(message("{used}}").contains("has no '{'"))
        #expect(message("tmx").contains("use tmux, waybar, polybar, i3bar, starship, plain"))
    }

    @Test("no line of any format is wider than asked for, and countdowns go first")
    func widths() throws {
        let providers = ["codex", "gemini"]
        #expect(try usage.line("plain", usage.several, providers: ["claude"], maxWidth: 20) == "Claude 5h 22 % used")
        for width in 1...120 {
            for format in ["plain", "starship", "{provider} {percent} {reset}"] {
                let line = try usage.line(format, usage.several, providers: providers, maxWidth: width)
                #expect(CellWidth.of(line) <= width, "\(line)")
            }
            let tagged = try usage.line("tmux", usage.several, providers: providers, maxWidth: width)
            #expect(CellWidth.of(tagged.replacing(/#\[[^\]]*\]/, with: "")) <= width)
        }
    }

    @Test("a locale without UTF-8 gets ASCII")
    func ascii() throws {
        let line = try usage.line("plain", usage.several, isUnicode: false)
        #expect(line == "!! Gemini 5h ~97 % used (2 h ago) - 1h 30m")
        #expect(try usage.line("tmux", usage.data(), isUnicode: false) == "-")
    }
}

/// The text of Pango markup without elements; nil if it has some, or is not well-formed.
private func text(ofMarkup markup: String) -> String? {
    guard !markup.contains("<"), !markup.contains(">") else { return nil }
    let names = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "#39": "'"]
    var text = ""
    for (index, piece) in markup.split(separator: "&", omittingEmptySubsequences: false).enumerated() {
        guard index > 0 else {
            text += piece
            continue
        }
        guard let end = piece.firstIndex(of: ";"), let character = names[String(piece[..<end])] else { return nil }
        text += character + piece[end...].dropFirst()
    }
    return text
}
