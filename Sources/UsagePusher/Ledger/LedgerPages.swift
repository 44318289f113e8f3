package import Essentials

/// The pages of a store.
package struct LedgerPages: Sendable {
    private(set) var pages: [LedgerKey: LedgerPage] = [:]
    /// What machines have imported; only `cells` of them count.
    private(set) var imports: [LedgerKey: LedgerPage] = [:]
    /// What must not count; it may still be in the pages.
    package var rules: [ForgetRule]
    /// Those that cannot be read, and why.
    private(set) var failures: [LedgerKey: LedgerPage.Failure] = [:]

    /// - Parameter values: the store's; what is under other keys is ignored.
    package init(_ values: [String: Data]) {
        rules = ForgetRule.rules(in: values)
        for (name, data) in values {
            guard let key = LedgerKey(name) else { continue }
            do throws(LedgerPage.Failure) {
                let page = try LedgerPage([UInt8](data), start: key.day)
                if key.isImport { imports[key] = page } else { pages[key] = page }
            } catch {
                failures[key] = error
            }
        }
    }

    /// A sentence for each page that cannot be read.
    package var issues: [String] {
        failures.map { key, failure in
            let text = key.isImport && failure == .damaged ? "is damaged; import it again on its machine" : failure.text
            return "\(LedgerKey.storeName): \(key.name) \(text)"
        }.sorted()
    }

    var byDevice: [String: [LedgerPage]] { Self.byDevice(pages) }
    var importsByDevice: [String: [LedgerPage]] { Self.byDevice(imports) }

    private static func byDevice(_ pages: [LedgerKey: LedgerPage]) -> [String: [LedgerPage]] {
        Dictionary(grouping: pages.sorted { $0.key.name < $1.key.name }, by: \.key.device).mapValues { $0.map(\.value) }
    }
}
