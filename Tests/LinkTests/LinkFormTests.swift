import LinkCore
import Testing

@Suite("Forms of links")
struct LinkFormTests {
    @Test("the form is hook without a value, and for one that is not known")
    func standard() {
        #expect(LinkForm(stored: nil) == .hook)
        #expect(LinkForm(stored: "") == .hook && LinkForm(stored: "carrier-pigeon") == .hook)
        #expect(LinkForm(stored: "mid") == .mid)
    }
}
