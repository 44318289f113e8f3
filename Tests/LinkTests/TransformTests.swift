import Foundation
@testable import link
import Testing

/// What a link becomes, by the names that its specification has for the cases.
@Suite("Transformation of links")
struct TransformTests {
    /// An item id of Exchange.
    private static let exchange =
        "AAMkAGE0YzI5ZDU3LTU1YzAtNGI3Yy1iMjE5LTcxZDE0ZjhhNzk5NgBGAAAAAAB_kQ%2Bd8Z2rS7AAEMAAA%3D"

    private func hook(_ link: String) throws -> String { try Self.url(link, .hook) }

    static func url(_ link: String, _ form: LinkForm) throws -> String {
        let target = try LinkTarget(AirmailLink(link), as: form)
        guard case .url(let url) = target else { throw LinkError.openFailed(.noCommand) }
        return url
    }

    @Test func testValidAirmailURLWithMessageIdReturnsCorrectHookURL() throws {
        #expect(try hook("airmail://message?messageid=N77") == "hook://email/N77")
    }

    @Test func testURLWithEncodedCharactersInMessageIdPreservesEncoding() throws {
        #expect(try hook("airmail://message?messageid=Q%2Bw%3D%3D") == "hook://email/Q%2Bw%3D%3D")
    }

    @Test func testURLWithMailParameterIgnoresMailAndExtractsMessageId() throws {
        #expect(try hook("airmail://message?mail=ann%40example.test&messageid=N1") == "hook://email/N1")
    }

    @Test func testURLWithExtraParametersIgnoresThemAndExtractsMessageId() throws {
        #expect(try hook("airmail://message?a=1&messageid=N2&messageids=3") == "hook://email/N2")
    }

    @Test func testRealWorldExampleFromDocumentation() throws {
        let link = "airmail://message?mail=ann%40example.test&messageid=\(Self.exchange)"
        #expect(try hook(link) == "hook://email/\(Self.exchange)")
    }

    @Test func testMessageIdFirstInQueryString() throws {
        #expect(try hook("airmail://message?messageid=N3&mail=ann%40example.test") == "hook://email/N3")
    }

    @Test func testMissingMessageIdParameterReturnsError() {
        #expect(throws: LinkError.missingMessageID) {
            try hook("airmail://message?mail=ann%40example.test")
        }
    }

    @Test func testEmptyMessageIdValueReturnsError() {
        #expect(throws: LinkError.emptyMessageID) { try hook("airmail://message?messageid=") }
    }

    @Test func testInvalidURLFormatWithNoQueryStringReturnsError() {
        for link in ["airmail://message", "airmail://message?", "airmail:"] {
            #expect(throws: LinkError.missingMessageID) { try hook(link) }
        }
    }

    @Test func testNonAirmailSchemeReturnsError() {
        for link in ["https://example.test?messageid=N4", "", "N4", "air:mail?messageid=N4"] {
            #expect(throws: LinkError.invalidScheme) { try hook(link) }
        }
    }

    @Test func testMailtoSchemeReturnsError() {
        #expect(throws: LinkError.invalidScheme) {
            try hook("mailto:ann@example.test?messageid=N5")
        }
    }

    @Test func testMultipleMessageIdParametersUsesFirst() throws {
        #expect(try hook("airmail://message?messageid=one&messageid=two") == "hook://email/one")
    }

    @Test func testVeryLongMessageIdValueSucceeds() throws {
        let id = String(repeating: "x9", count: 250)
        #expect(try hook("airmail://message?messageid=\(id)") == "hook://email/\(id)")
    }

    @Test func testMessageIdWithSpecialCharactersHandledCorrectly() throws {
        let id = "a-b_c.d~e!$'()*,;:@"
        #expect(try hook("airmail://message?messageid=\(id)") == "hook://email/\(id)")
    }

    @Test func testURLEncodedSpecialCharactersPreserved() throws {
        let id = "ann%40example%2Ftest%3D7%2b8"
        #expect(try hook("airmail://message?messageid=\(id)") == "hook://email/\(id)")
    }

    @Test func testMessageIdWithSpacesEncodedAsPlus() throws {
        #expect(try hook("airmail://message?messageid=one+two") == "hook://email/one+two")
    }

    @Test func testMessageIdWithPercentEncodedPercent() throws {
        #expect(try hook("airmail://message?messageid=50%25off") == "hook://email/50%25off")
    }

    @Test func testCaseInsensitiveParameterNameHandling() {
        for name in ["MESSAGEID", "messageId", "message%69d"] {
            #expect(throws: LinkError.missingMessageID) {
                try hook("airmail://message?\(name)=N6")
            }
        }
    }

    @Test func testWhitespaceOnlyMessageIdSucceeds() throws {
        #expect(try hook("airmail://message?messageid=%20%20%20") == "hook://email/%20%20%20")
    }

    @Test func testAirmailSchemeWithDifferentHost() throws {
        for start in ["airmail://elsewhere/path", "AIRMAIL://message", "airmail:message"] {
            #expect(try hook("\(start)?messageid=N7") == "hook://email/N7")
        }
    }

    @Test func testAirmailSchemeWithNoHost() throws {
        #expect(try hook("airmail://?messageid=N8") == "hook://email/N8")
    }

    @Test func testOutputURLHasCorrectScheme() throws {
        #expect(URL(string: try hook("airmail://message?messageid=N9"))?.scheme == "hook")
    }

    @Test func testOutputURLHasCorrectHost() throws {
        #expect(URL(string: try hook("airmail://message?messageid=N9"))?.host() == "email")
    }

    @Test func testOutputURLHasMessageIdAsPath() throws {
        #expect(URL(string: try hook("airmail://message?messageid=N9"))?.path() == "/N9")
    }

    @Test func testAppleMailSchemeReturnsCorrectMessageURL() throws {
        #expect(try Self.url("airmail://message?messageid=N77", .message) == "message://%3CN77%3E")
    }

    @Test func testAppleMailSchemeWithEncodedCharacters() throws {
        #expect(try Self.url("airmail://message?messageid=Q%2Bw%3D%3D", .message) == "message://%3CQ%2Bw%3D%3D%3E")
    }

    @Test func testAppleMailSchemeWithMailParameter() throws {
        #expect(
            try Self.url("airmail://message?mail=ann%40example.test&messageid=N1", .message)
                == "message://%3CN1%3E")
    }

    @Test func testAppleMailSchemeRealWorldExample() throws {
        let link = "airmail://message?mail=ann%40example.test&messageid=\(Self.exchange)"
        #expect(try Self.url(link, .message) == "message://%3C\(Self.exchange)%3E")
    }

    @Test func testAppleMailSchemeOutputHasCorrectScheme() throws {
        let url = try Self.url("airmail://message?messageid=N9", .message)
        #expect(URL(string: url)?.scheme == "message")
    }

    @Test func testAppleMailSchemeMissingMessageIdReturnsError() {
        #expect(throws: LinkError.missingMessageID) {
            try Self.url("airmail://message?mail=ann%40example.test", .message)
        }
    }

    @Test func testExplicitHookmarkSchemeReturnsCorrectURL() throws {
        #expect(try Self.url("airmail://message?messageid=N77", .hook) == "hook://email/N77")
    }

    @Test func testDefaultSchemeMatchesExplicitHookmark() throws {
        let link = "airmail://message?messageid=N77"
        #expect(try Self.url(link, LinkForm(stored: nil)) == Self.url(link, .hook))
    }
}
