import LinkCore
import Testing

@Suite("Commands that open links")
struct CommandTemplateTests {
    private func command(_ template: [String], _ value: String) throws -> [String] {
        let link = try AirmailLink("airmail://message?messageid=\(value)")
        let target = try LinkTarget(link, as: .custom, command: CommandTemplate(template))
        guard case .command(let words) = target else { return [] }
        return words
    }

    @Test("placeholders stand for the id, decoded and as in a URL, without angle brackets")
    func placeholders() throws {
        #expect(
            try command(["show", "id:{id}", "--url=x:{id_encoded}", "{id}{id}"], "%3Ca%40b%3E")
                == ["show", "id:a@b", "--url=x:a%40b", "a@ba@b"])
    }

    @Test("what an id contains stays in one argument, and is no placeholder")
    func hostile() throws {
        for id in ["$(touch x)", "`x`", "a; rm -r /", "a' \"b", "{id_encoded}{id}", "*", "a|b&c"] {
            let value = id.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(try command(["show", "{id}"], value) == ["show", id])
        }
    }

    @Test("an id becomes an option only after --")
    func options() throws {
        for template in [["show", "{id}"], ["show", "{id_encoded}"], ["show", "{id}{id}", "--"]] {
            #expect(throws: LinkError.invalidURLConstruction(.option)) {
                try command(template, "--exec=x@y")
            }
        }
        #expect(try command(["show", "--", "{id}"], "-x@y") == ["show", "--", "-x@y"])
        #expect(try command(["show", "-i{id}"], "-x@y") == ["show", "-i-x@y"])
    }

    @Test("no command is given an airmail: link again")
    func loops() {
        for (template, value) in [
            ("{id}", "AirMail:x@y"), ("airmail://message?messageid={id_encoded}", "x@y"),
        ] {
            #expect(throws: LinkError.invalidURLConstruction(.loop)) {
                try command(["xdg-open", template], value)
            }
        }
    }

    @Test("a link needs a command of this machine")
    func none() throws {
        let link = try AirmailLink("airmail://message?messageid=a@b")
        #expect(throws: LinkError.openFailed(.noCommand)) { try LinkTarget(link, as: .custom) }
    }

    @Test(
        "a command that could not be trusted with an id is no command",
        arguments: [
            ([], .empty), (["", "{id}"], .empty), (["show"], .noPlaceholder),
            (["show-{id}"], .programFromLink), (["{id_encoded}", "{id}"], .programFromLink),
            (["show", "a\n{id}"], .controlCharacter),
            (["sh", "-c", "x {id}"], .code(option: "-c")),
            (["mutt", "-e", "push {id_encoded}"], .code(option: "-e")),
            (["show"] + Array(repeating: "{id}", count: 64), .tooLong),
            (["show", "{id}" + String(repeating: "x", count: 4_096)], .tooLong),
        ] as [([String], CommandTemplate.Flaw)])
    func flaws(arguments: [String], flaw: CommandTemplate.Flaw) {
        #expect(throws: flaw) { try CommandTemplate(arguments) }
    }
}
