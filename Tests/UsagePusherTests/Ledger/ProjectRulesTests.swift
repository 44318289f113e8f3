import Foundation
import StoreTestSupport
import Testing
import UsageState

@testable import UsagePusher

@Suite("What is said of projects")
struct ProjectRulesTests {
    @Test("a project counts as the one that merges lead to, also of circles, whichever machine asks")
    func projectRules() {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<500 {
            var values: [String: Data] = [:]
            var next: [String: String] = [:]
            for number in 0..<8 where random.chance(2) {
                var rule = ProjectRule()
                rule.into = "\(random.below(8))"
                next["\(number)"] = rule.into
                values[ProjectRules.storeKey(of: "\(number)")] = rule.data
            }
            let rules = ProjectRules(stored: values)
            for number in 0..<8 {
                var (path, last) = (["\(number)"], "\(number)")
                while let into = next[last], !path.contains(into) {
                    path.append(into)
                    last = into
                }
                let circle = next[last].flatMap(path.firstIndex).map { path[$0...].min() ?? last }
                #expect(rules.target(of: "\(number)") == circle ?? last)
            }
        }
        let hostile = [Data("{".utf8), Data(#"{"name":"a\u001bb"}"#.utf8), Data(repeating: 0x20, count: 2_000)]
        for (number, data) in hostile.enumerated() {
            let rules = ProjectRules(stored: [ProjectRules.storeKey(of: "\(number)"): data])
            #expect(rules["\(number)"] == ProjectRule())
        }
    }

    @Test("what is said of projects is known although no machine shows limits")
    func withoutSnapshots() {
        var rule = ProjectRule()
        rule.isHidden = true
        let usage = StoredUsage(values: [ProjectRules.storeKey(of: "1"): rule.data ?? Data()])
        #expect(usage.data(link: .online, at: Date()).projects["1"] == rule)
    }
}
