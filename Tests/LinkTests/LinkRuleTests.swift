@testable import link
import Testing

@Suite("Rules of links")
struct LinkRuleTests {
    private func url(_ value: String, _ form: LinkForm) throws -> String {
        try TransformTests.url("airmail://message?messageid=\(value)", form)
    }

    @Test("the first messageid counts, even if only a later one has a value")
    func firstIsEmpty() {
        for query in ["messageid=&messageid=N1", "messageid&messageid=N1"] {
            #expect(throws: LinkError.emptyMessageID) {
                try AirmailLink("airmail://message?\(query)")
            }
        }
    }

    @Test("a question mark is encoded, a slash is kept, a fragment is no part of the id")
    func delimiters() throws {
        #expect(try url("a?b/c#d?messageid=e", .hook) == "hook://email/a%3Fb/c")
        #expect(throws: LinkError.missingMessageID) { try AirmailLink("airmail://a#?messageid=b") }
    }

    @Test(
        "what may not stand in a URL is encoded",
        arguments: [
            ("a b", "a%20b"), ("<a>", "%3Ca%3E"), ("\"a\\b`", "%22a%5Cb%60"),
            ("{a|b}^", "%7Ba%7Cb%7D%5E"),
            ("é\u{202E}", "%C3%A9%E2%80%AE"), ("[a]", "%5Ba%5D"),
        ])
    func invalidCharacters(value: String, encoded: String) throws {
        #expect(try url(value, .hook) == "hook://email/\(encoded)")
    }

    @Test("a percent sign without two digits cannot be converted")
    func malformedEncoding() {
        for value in ["%", "a%4", "%zz", "%%41", "%4%31"] {
            for form in [LinkForm.hook, .message, .mid] {
                #expect(throws: LinkError.invalidURLConstruction(.malformedEncoding)) {
                    try url(value, form)
                }
            }
        }
    }

    @Test("angle brackets are not doubled in message:, and dropped in mid:")
    func brackets() throws {
        for value in ["%3Ca%40b%3E", "%3ca%40b%3e", "<a%40b>", "a%40b"] {
            #expect(try url(value, .message) == "message://%3Ca%40b%3E")
            #expect(try url(value, .mid) == "mid:a@b")
        }
        #expect(try url("%3Ca", .message) == "message://%3C%3Ca%3E")
        for form in [LinkForm.message, .mid] {
            #expect(throws: LinkError.emptyMessageID) { try url("%3C%3E", form) }
        }
    }

    @Test("mid: has the characters of a Message-ID as they are")
    func mid() throws {
        #expect(try url("a%2Bb%2Fc%3D%40example.test", .mid) == "mid:a+b/c=@example.test")
        #expect(try url("a%25%3F%23%20b@c", .mid) == "mid:a%25%3F%23%20b@c")
    }

    @Test("an id without '@' is opened as mid:, with a warning")
    func warning() throws {
        let exchange = try AirmailLink("airmail://message?messageid=AAMkAGE%3D")
        #expect(exchange.warning(as: .mid)?.contains("no '@'") == true)
        #expect(exchange.warning(as: .hook) == nil)
        for value in ["a@b", "a%40b"] {
            let link = try AirmailLink("airmail://message?messageid=\(value)")
            #expect(link.warning(as: .mid) == nil)
        }
    }

    @Test(
        "a control character is refused for mid: and commands, and passed encoded to the others",
        arguments: ["a%00b@c", "a%0Ab@c", "a%7Fb@c", "a%C2%9Bb@c"])
    func controlCharacters(value: String) throws {
        #expect(try url(value, .hook) == "hook://email/\(value)")
        let link = try AirmailLink("airmail://message?messageid=\(value)")
        let command = try CommandTemplate(["show", "{id}"])
        for form in [LinkForm.mid, .custom] {
            #expect(throws: LinkError.invalidURLConstruction(.controlCharacter)) {
                try LinkTarget(link, as: form, command: command)
            }
        }
    }

    @Test("a control character that is not encoded is refused in every form")
    func rawControlCharacters() {
        for value in ["a\nb", "a\u{1B}[2J", "a\u{7F}", "a\r\n", "a\0"] {
            #expect(throws: LinkError.invalidURLConstruction(.controlCharacter)) {
                try url(value, .hook)
            }
        }
    }

    @Test("an id that is not UTF-8 is refused where it is decoded")
    func notText() throws {
        #expect(try url("%FF%40b", .message) == "message://%3C%FF%40b%3E")
        #expect(throws: LinkError.invalidURLConstruction(.notText)) { try url("%FF%40b", .mid) }
    }

    @Test("a link of 16 KiB is converted, a longer one is not")
    func length() throws {
        let start = "airmail://message?messageid="
        let id = String(repeating: "x", count: AirmailLink.byteLimit - start.utf8.count)
        #expect(try TransformTests.url(start + id, .hook) == "hook://email/" + id)
        #expect(throws: LinkError.invalidURLConstruction(.tooLong)) {
            try AirmailLink(start + id + "x")
        }
        #expect(throws: LinkError.invalidURLConstruction(.tooLong)) {
            try AirmailLink(String(repeating: "é", count: 4_000_000))
        }
    }

    @Test("the form is hook without a value, and for one that is not known")
    func standard() {
        #expect(LinkForm(stored: nil) == .hook && LinkForm(stored: "") == .hook)
        #expect(LinkForm(stored: "carrier-pigeon") == .hook && LinkForm(stored: "mid") == .mid)
    }

    @Test("no message contains anything but a full sentence about what to do")
    func messages() {
        let errors: [LinkError] = [
            .invalidScheme, .missingMessageID, .emptyMessageID, .invalidURLConstruction(.loop),
            .openFailed(.noHandler(scheme: "hook")), .openFailed(.noCommand),
            .openFailed(.exited(program: "xdg-open", status: 4)),
        ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(
            Set(errors.map(\.code)) == [
                "invalidScheme", "missingMessageId", "emptyMessageId", "invalidURLConstruction", "openFailed",
            ])
        #expect(
            LinkError.openFailed(.noHandler(scheme: "hook")).description
                .contains("is Hookmark installed? \(ProgramName.text) doctor"))
    }
}
