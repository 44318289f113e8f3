import Testing

@testable import TerminalText

@Suite("Styles")
struct StyleTests {
    @Test("a line renders with one sequence per style, or as plain text")
    func render() {
        var line = StyledLine("a", .bold)
        line.append("b", .bold)
        line.append("c")
        line.append("d", TextStyle(color: .red, isDim: true))
        #expect(line.spans.count == 3)
        #expect(ANSI.render(line, isColored: true) == "\u{1B}[1mab\u{1B}[0mc\u{1B}[2;31md\u{1B}[0m")
        #expect(ANSI.render(line, isColored: false) == "abcd")
        line.pad(toCells: 6)
        #expect(line.plainText == "abcd  ")
    }

    @Test("an explicit choice, the environment and the terminal decide about color")
    func policy() {
        func colored(
            _ environment: [String: String], _ isTerminal: Bool = true, _ choice: ColorPolicy.Choice = .auto
        ) -> Bool {
            ColorPolicy.isColored(choice: choice, environment: environment, isTerminal: isTerminal)
        }
        #expect(colored(["TERM": "xterm"]))
        #expect(!colored(["TERM": "xterm"], false))
        #expect(!colored(["TERM": "dumb", "CLICOLOR_FORCE": "1"]))
        #expect(!colored(["NO_COLOR": "1", "CLICOLOR_FORCE": "1"]))
        #expect(colored(["NO_COLOR": ""]))
        #expect(colored(["CLICOLOR_FORCE": "1"], false))
        #expect(!colored(["CLICOLOR_FORCE": "0"], false))
        #expect(colored(["NO_COLOR": "1"], false, .always))
        #expect(!colored([:], true, .never))
    }

    @Test("the locale decides about non-ASCII characters")
    func unicode() {
        #expect(ColorPolicy.isUnicode(environment: [:]))
        #expect(ColorPolicy.isUnicode(environment: ["LC_ALL": "", "LANG": "de_CH.UTF-8"]))
        #expect(ColorPolicy.isUnicode(environment: ["LANG": "C.utf8"]))
        #expect(!ColorPolicy.isUnicode(environment: ["LC_ALL": "C", "LANG": "en_US.UTF-8"]))
    }
}
