import Foundation
import SnapshotModels
import Testing

@testable import UsagePusher

@Suite("Documents of other programs")
struct ProviderDocumentTests {
    private func document(_ text: String) -> ProviderDocument? {
        ProviderDocument(Data(text.utf8), observedAt: sampleNow - 60)
    }

    @Test(
        "an object and a list of one are the same, and the file's time stands in for a missing one")
    func shapes() throws {
        let object = try #require(document(PluginHome.document))
        #expect(object == document("[\(PluginHome.document)]"))
        #expect(object.providers.first?.lastUpdated == sampleNow - 60)
        #expect(document("") == nil && document("7") == nil && document("[") == nil)
        #expect(document("[]")?.providers == [])
    }

    @Test("a file that is larger than the limit is named and not read")
    func large() throws {
        let home = try SampleHome()
        let text = "[" + PluginHome.document + String(repeating: " ", count: 1_048_576) + "]"
        try home.write(".config/ubiquity/providers.d/large.json", text)
        var source = PluginsSource()
        let reading = source.read(in: home.environment(), at: sampleNow)
        #expect(reading.providers.isEmpty)
        #expect(
            reading.findings.map(\.detail) == ["cannot be read: it is larger than 1048576 bytes"])
    }

    @Test("what does not fit beside other devices' snapshots is left out and named")
    func many() throws {
        let home = try SampleHome()
        let cards = (0..<120).map { number in
            let windows = (0..<16).map {
                "{\"usedPercent\":\($0),\"label\":\"window \($0)\",\"resetsAt\":\"2026-09-19T00:00:00Z\"}"
            }
            return
                "{\"providerID\":\"p\(number)\",\"rateWindows\":[\(windows.joined(separator: ","))]}"
        }
        try home.write(
            ".config/ubiquity/providers.d/many.json", "[\(cards.joined(separator: ","))]")
        var source = PluginsSource()
        let reading = source.read(in: home.environment(), at: sampleNow)
        #expect(!reading.providers.isEmpty && reading.providers.count < 120)
        #expect(reading.findings[0].detail.hasSuffix("more than a snapshot can hold was left out"))
    }

    @Test(
        "what looks like a credential is hidden, what does not stays",
        arguments: [
            ("Authorization: Bearer abc", "Authorization: [hidden]"),
            ("bearer abc.def", "[hidden]"), ("api_key=\"abc\"", "api_key=\"[hidden]\""),
            ("s" + "k-abcdefgh rejected", "[hidden] rejected"),
            ("{\"access_token\": \"a b\"}", "{\"access_token\": \"[hidden] b\"}"),
            ("at 0123456789abcdef01 end", "at [hidden] end"),
            ("eyJhbGciOi.eyJzdWIi.sig", "[hidden]"),
            ("AbCd+efGhijKlmnOpqrstUvwxyz==", "[hidden]"),
            ("cannot open '/home/dev/.config/ubiquity/providers.d/tool.py'", nil),
            ("HTTP 401 from https://api.example.test/v1/usage", nil), ("Pro 20x", nil),
        ] as [(String, String?)])
    func masking(_ text: String, _ masked: String?) {
        #expect(SecretMask.masked(text) == masked ?? text)
    }

    @Test("no damage to a property list stops the reader")
    func damagedPropertyLists() throws {
        let path = SampleHome.fixture(
            "plugins/homes/icloud/Library/SyncedPreferences/com.o1xhack.codexbar.plist")
        let whole = try Data(contentsOf: URL(filePath: path))
        let key = SyncedUsageSnapshot.storeKey
        #expect(BinaryPropertyList(whole)?.data(at: "values", key, "value")?.first == 0x7B)
        #expect(BinaryPropertyList(whole)?.data(at: "values", key) == nil)
        #expect(BinaryPropertyList(whole)?.data(at: "other") == nil)
        for count in 0..<whole.count {
            _ = BinaryPropertyList(whole.prefix(count))?.data(at: "values", key, "value")
        }
        for index in whole.indices where index < 64 || index > whole.count - 256 {
            for byte in [0, 0x0F, 0x1F, 0x7F, 0x80, 0xDF, 0xFF] as [UInt8] {
                var damaged = whole
                damaged[index] = byte
                _ = BinaryPropertyList(damaged)?.data(at: "values", key, "value")
            }
        }
    }
}
