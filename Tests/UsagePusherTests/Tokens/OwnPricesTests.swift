import Foundation
import LocalFiles
import Testing

@testable import UsagePusher

@Suite("The user's own prices")
struct OwnPricesTests {
    private func load(_ content: Data?) throws -> (prices: ModelPrices, issues: [String], path: String) {
        let home = try SampleHome()
        return try withExtendedLifetime(home) {
            let directories = UserDirectories(environment: ["HOME": "/home/u", "UBIQUITY_CONFIG_DIR": home.path])
            let path = ModelPrices.ownFile(directories).path
            if let content { try content.write(to: URL(filePath: path)) }
            let (prices, issues) = ModelPrices.load(directories)
            return (prices, issues, path)
        }
    }

    private func load(_ text: String) throws -> (prices: ModelPrices, issues: [String], path: String) {
        try load(Data(text.utf8))
    }

    @Test("without a file the package's prices count")
    func missing() throws {
        let (prices, issues, path) = try load(nil)
        #expect(issues == [] && path.hasSuffix("/prices.json"))
        #expect(prices.digest == ModelPrices.packaged.digest)
    }

    @Test("the file is in the XDG configuration directory")
    func place() {
        let directories = UserDirectories(environment: ["HOME": "/home/u", "XDG_CONFIG_HOME": "/home/u/settings"])
        #expect(ModelPrices.ownFile(directories).path == "/home/u/settings/ubiquity/prices.json")
    }

    @Test("a model is added, and a package's price replaced as a whole")
    func overrides() throws {
        let (prices, issues, _) = try load(
            """
            {"models": {
              "my-model": {"input": 2, "output": 4, "longContext": [
                {"above": 1000, "input": 3, "output": 6}, {"above": 2000, "input": 5, "output": 7}]},
              "gpt-5.5": {"input": 1, "output": 1},
              "claude-opus-5": {"input": 10, "output": 30}
            }}
            """)
        #expect(issues == [])
        func dollars(_ tokens: TokenCounts, _ model: String, _ tier: ServiceTier = .standard) -> Double? {
            prices.cost(of: tokens, model: model, tier: tier).total
        }
        #expect(dollars(TokenCounts(input: 1_000), "my-model") == 0.002)
        #expect(dollars(TokenCounts(input: 2_000), "my-model") == 0.006)
        #expect(dollars(TokenCounts(input: 4_000), "my-model") == 0.02)
        #expect(dollars(TokenCounts(input: 1_000_000), "gpt-5.5") == 1)
        #expect(dollars(TokenCounts(input: 1), "gpt-5.5", .priority) == nil)
        // Anthropic's rules: 0.1, 1.25 and 2 times the input.
        #expect(dollars(TokenCounts(cacheRead: 1_000_000), "claude-opus-5-20260101") == 1)
        #expect(dollars(TokenCounts(cacheWrite5m: 1_000_000), "claude-opus-5") == 12.5)
        #expect(dollars(TokenCounts(cacheWrite1h: 1_000_000), "claude-opus-5") == 20)
        #expect(prices.all.filter(\.isOwn).map(\.name) == ["claude-opus-5", "gpt-5.5", "my-model"])
        #expect(prices.digest != ModelPrices.packaged.digest)
    }

    @Test(
        "a mistake leaves its model out and is named with file, model and member",
        arguments: [
            ("3", " is not an object"),
            ("{}", ".input is missing"),
            (#"{"input": 1}"#, ".output is missing"),
            (#"{"input": null, "output": 1}"#, ".input is not a number"),
            (#"{"input": "much", "output": 1}"#, ".input is not a number"),
            (#"{"input": "NaN", "output": 1}"#, ".input is not a number"),
            (#"{"input": true, "output": 1}"#, ".input is not a number"),
            (#"{"input": 1e999, "output": 1}"#, ".input is not a number"),
            (#"{"input": -1, "output": 1}"#, ".input is negative"),
            (#"{"input": 1, "output": 1e308}"#, ".output is more than 1000000"),
            (#"{"input": 1, "output": 1, "fast": -2}"#, ".fast is negative"),
            (#"{"input": 1, "output": 1, "webSearch": []}"#, ".webSearch is not a number"),
            (#"{"input": 1, "output": 1, "priority": 2}"#, ".priority is not an object"),
            (#"{"input": 1, "output": 1, "priority": {"input": 1}}"#, ".priority.output is missing"),
            (#"{"input": 1, "output": 1, "offPeak": []}"#, ".offPeak is not an object"),
            (#"{"input": 1, "output": 1, "offPeak": {"input": 1}}"#, ".offPeak.output is missing"),
            (
                #"{"input": 1, "output": 1, "offPeak": {"input": 1, "output": 1, "hours": "22:00-24:00"}}"#,
                #".offPeak.hours is not as "1-5 10:00-24:00, 6-7 00:00-24:00""#
            ),
            (#"{"input": 1, "output": 1, "longContext": {}}"#, ".longContext is not a list of 1 to 16 objects"),
            (
                #"{"input": 1, "output": 1, "longContext": [{"above": 5.5, "input": 1, "output": 1}]}"#,
                ".longContext[0].above is not a number of tokens, each larger than the last"
            ),
            (
                #"{"input": 1, "output": 1, "longContext": [{"above": 1e300, "input": 1, "output": 1}]}"#,
                ".longContext[0].above is not a number of tokens, each larger than the last"
            ),
            (
                #"{"input": 1, "output": 1, "longContext": [{"above": 5, "input": -1, "output": 1}]}"#,
                ".longContext[0].input is negative"
            ),
        ])
    func mistakes(model: String, reason: String) throws {
        let (prices, issues, path) = try load(#"{"models": {"gpt-5.5": \#(model), "b": {"input": 1, "output": 1}}}"#)
        #expect(
            issues == ["\(path): models.gpt-5.5\(reason); " + "correct it, or remove it to use the package's price"])
        #expect(prices.price(for: "gpt-5.5") == ModelPrices.packaged.price(for: "gpt-5.5"))
        #expect(prices.price(for: "b")?.isOwn == true)
    }

    @Test(
        "hours are days from Monday to Sunday and times of one day",
        arguments: [
            "", "1-5", "1-5 10:00-24:01", "1-5 10:00-10:00", "5-1 10:00-11:00", "0 10:00-11:00", "8 10:00-11:00",
            "1 10:60-11:00", "1 10:00-11:00,2 10:00-11:00", "1 10:00-11:00, ", "1 22:00-02:00",
        ])
    func hours(text: String) {
        let rates = ModelPrice.Rates(input: 1, output: 1)
        #expect(OffPeak(rates: rates, hours: "1 10:00-11:00") != nil)
        #expect(OffPeak(rates: rates, hours: text) == nil)
    }

    @Test("a misspelled member is named, with the members that there are")
    func misspelled() throws {
        let (_, issues, path) = try load(#"{"models": {"a": {"input": 1, "output": 1, "cache_read": 1}}}"#)
        #expect(
            issues == [
                "\(path): models.a.cache_read is unknown: the members are input, output, cacheRead, "
                    + "cacheWrite5m, cacheWrite1h, longContext, priority, ultrafast, offPeak, fast, "
                    + "webSearch, provider, version; correct it, or remove it to use the package's price"
            ])
    }

    @Test(
        "a file that cannot be used is named with the place and the next step",
        arguments: [
            ("", "line 1, column 1: the file is empty"),
            ("[]", "not a JSON object, or nested too deeply"),
            ("{}", "models is not an object"),
            (#"{"models": []}"#, "models is not an object"),
            ("{\n  models\n}", "line 2, column 3: a name in quotes is expected"),
            (#"{"models": {"a": {"input": NaN}}}"#, "line 1, column 28: a value is expected"),
        ])
    func unusable(content: String, reason: String) throws {
        let (prices, issues, path) = try load(content)
        #expect(issues == ["cannot read \(path): \(reason); fix it, or remove it"])
        #expect(prices.digest == ModelPrices.packaged.digest)
    }

    @Test("a hostile file is refused within the limits")
    func hostile() throws {
        let deep = String(repeating: #"{"models":"#, count: 100_000)
        let (_, issues, path) = try load(deep)
        #expect(issues.count == 1 && issues[0].contains("nested too deeply"))
        let shallow =
            #"{"models": {"a": \#(String(repeating: "[", count: 100))\#(String(repeating: "]", count: 100))}}"#
        #expect(try load(shallow).issues.count == 1)
        let names = (0..<5_000).map { #""m\#($0)": {"input": 1, "output": 1}"# }
        let many = try load(#"{"models": {\#(names.joined(separator: ","))}}"#)
        #expect(many.prices.all.filter(\.isOwn).count == ModelPricesDocument.modelLimit)
        #expect(many.issues.count == 1)
        #expect(path.hasSuffix("prices.json"))
    }

    @Test("a file of 100 MB is not read")
    func large() throws {
        let home = try SampleHome()
        let directories = UserDirectories(environment: ["UBIQUITY_CONFIG_DIR": home.path])
        let path = home.path + "/prices.json"
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: 100_000_000)
        try file.close()
        let (prices, issues) = ModelPrices.load(directories)
        #expect(issues.count == 1 && issues[0].contains(path))
        #expect(prices.digest == ModelPrices.packaged.digest)
    }
}
