import Essentials
package import LocalFiles

/// The prices of models: the package's table, and over it those of the user's own file.
package struct ModelPrices: Sendable {
    /// Where and when the package's prices were read.
    package struct Origin: Sendable, Hashable {
        /// "2026-11-24"
        package var date: String
        package var source: String
        package var version: String
    }

    package let origin: Origin
    /// Changes with any price, and with the rules by which a model is found.
    package let digest: String
    private let models: [String: ModelPrice]

    /// The package's prices.
    package static let packaged: ModelPrices = {
        let data = Data(PackageResources.model_prices_json)
        // Tested.
        guard let document = try? ModelPricesDocument(data), document.issues.isEmpty,
            let origin = document.origin
        else { preconditionFailure("model-prices.json is a part of the program, and tested") }
        return ModelPrices(origin: origin, models: document.models)
    }()

    /// The package's prices with those of `prices.json` in the user's configuration directory. What
    /// cannot be used of the file is in `issues`, a sentence each.
    package static func load(
        _ directories: UserDirectories = UserDirectories()
    ) -> (prices: ModelPrices, issues: [String]) {
        let file = ownFile(directories)
        do throws(FileError) {
            guard let content = try file.read(byteLimit: ModelPricesDocument.byteLimit) else { return (packaged, []) }
            do throws(ModelPricesDocument.Failure) {
                let document = try ModelPricesDocument(content.data)
                return (packaged.replacing(document.models), document.issues.map { "\(file.path): \($0)" })
            } catch {
                return (packaged, ["cannot read \(file.path): \(error.reason); fix it, or remove it"])
            }
        } catch {
            return (packaged, [error.description])
        }
    }

    package static func ownFile(_ directories: UserDirectories = UserDirectories()) -> LocalFile {
        LocalFile(directories.config + "/prices.json")
    }

    private init(origin: Origin, models: [String: ModelPrice]) {
        self.origin = origin
        self.models = models.mapValues { price in
            var price = price
            price.applyProviderRules()
            return price
        }
        digest = Self.digest(of: self.models)
    }

    /// A model of the user's file replaces the whole price of the package's.
    func replacing(_ own: [String: ModelPrice]) -> ModelPrices {
        let own = own.mapValues { price in
            var price = price
            price.isOwn = true
            price.provider = price.provider ?? models[price.name]?.provider
            return price
        }
        return ModelPrices(origin: origin, models: models.merging(own) { $1 })
    }

    /// All prices by name.
    package var all: [ModelPrice] { models.values.sorted { $0.name < $1.name } }

    /// The price of exactly this model, under one of the names that it has (see `ModelAlias`); nil for an unknown one.
    package func match(_ model: String) -> PriceMatch? {
        for alias in ModelAlias.aliases(of: model) {
            guard let price = models[alias.name] else { continue }
            if let providers = alias.providers, let provider = price.provider, !providers.contains(provider) {
                continue
            }
            return PriceMatch(price: alias.isRegional ? price.ofRegion : price, tier: alias.tier)
        }
        return nil
    }

    package func price(for model: String) -> ModelPrice? { match(model)?.price }

    private static func digest(of models: [String: ModelPrice]) -> String {
        func text(_ rates: ModelPrice.Rates) -> String {
            let optional = [rates.cacheRead, rates.cacheWrite5m, rates.cacheWrite1h]
            return ([rates.input, rates.output] + optional).map { $0.map { "\($0)" } ?? "-" }.joined(separator: ",")
        }
        func text(_ list: ModelPrice.List?) -> String {
            guard let list else { return "-" }
            return ([text(list.rates)] + list.longContext.map { "\($0.above):\(text($0.rates))" })
                .joined(separator: ";")
        }
        let lines = models.values.sorted { $0.name < $1.name }.map { price in
            let optional = [price.fast, price.webSearch].map { $0.map { "\($0)" } ?? "-" }
            return
                ([price.name, price.provider ?? "-", text(price.standard)]
                + ServiceTier.listed.map { text(price.services[$0]) }
                + [price.offPeak.map { "\($0.hours) \(text($0.rates))" } ?? "-"] + optional).joined(separator: " ")
        }
        return "\(ModelAlias.rulesVersion)\n\(lines.joined(separator: "\n"))".fingerprint
    }
}

extension ModelPrices {
    /// `digest` as a number.
    var hash: UInt64 { ContentHash.of(digest) }
}
