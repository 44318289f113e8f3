import Essentials
import LocalFiles
import Synchronization

/// Keeps the sums of the tokens in a home up to date with its files.
///
/// An update lists the files, reads those that are new or have changed (of a file that grew only what was appended),
/// merges what was found with what is in the cache, and replaces the cache if that is worth it. When nothing has
/// changed it only lists the files. A file that was replaced or has shrunk takes its records with it, and one that is
/// gone takes them out of the buckets; `TokenUsage.keptBuckets` have them for `keptDayCount` days. The buckets are
/// those of reading everything, whatever the cache holds.
package struct TokenLedger: Sendable {
    private let logs: [any TokenLog]
    /// Nil to keep nothing.
    let cacheFile: LocalFile?

    /// What an update may cost, and whom it tells.
    package struct Options: Sendable {
        /// Seconds after which listing, and after as many more reading stops; the next update goes on. Nil for no
        /// limit.
        package var seconds: Double?
        /// Called from any thread with the bytes that were read and those that there are to read.
        package var progress: @Sendable (Int, Int) -> Void = { _, _ in }
        var now = Date()

        package init(seconds: Double? = nil) { self.seconds = seconds }
    }

    /// Directory entries that are listed of one log.
    static let entryLimit = 400_000
    private static let depthLimit = 12
    private static let listingSeconds = 60.0
    /// For how long and of how many files that are gone it is kept what they have stated.
    fileprivate static let keptDayCount = 400
    fileprivate static let keptFileLimit = 50_000
    private let entryLimit: Int

    /// - Parameter logs: of the tools that are read.
    init(logs: [any TokenLog], environment: SourceEnvironment, entryLimit: Int = Self.entryLimit) {
        self.logs = logs
        self.entryLimit = entryLimit
        cacheFile =
            environment.keepsCache
            ? LocalFile(environment.stateDirectory + "/tokens.cache") : nil
    }

    /// Brings the sums up to date, on the caller's thread and others.
    ///
    /// - Parameter prices: by which costs are calculated.
    package func update(
        in environment: SourceEnvironment, prices: ModelPrices, options: Options = .init()
    ) -> TokenUsage {
        var issues: [String] = []
        // Both get the whole time: a slow listing must not keep what it has found from being read.
        func deadline() -> Double {
            options.seconds.map { environment.monotonicSeconds() + $0 } ?? .infinity
        }
        let listing = list(in: environment, until: deadline(), issues: &issues)
        let deadline = deadline()
        for isRebuilding in [false, true] {
            let pass = Pass(
                listing: listing, logsHash: logsHash(in: environment), cacheFile: cacheFile, environment: environment,
                prices: prices, deadline: deadline, options: options, issues: issues)
            if let usage = pass.run(ignoringCache: isRebuilding) { return usage }
        }
        var usage = TokenUsage()
        usage.issues = ["cannot read back what was written to a temporary file"]
        usage.unlisted = Set(logs.map(\.source))
        return usage
    }

    /// A file that was found, and the log that it belongs to.
    fileprivate struct Found: Sendable {
        var log: any TokenLog
        var file: TokenFile
        var status: FileStatus

        /// Whether another file in its place states all that this one did, and what it does not state was taken back.
        var isDocument: Bool { if case .document? = log.reader(of: file) { true } else { false } }
    }

    fileprivate struct Listing: Sendable {
        var found: [Found] = []
        /// Each `TokenLog.source` of which some were left out.
        var unlisted: Set<String> = []
        /// What could not be listed or inspected, by `TokenLog.source`.
        var unreadable: [String: [String]] = [:]
    }

    private func list(in environment: SourceEnvironment, until deadline: Double, issues: inout [String]) -> Listing {
        var listing = Listing()
        for log in logs {
            var environment = environment
            environment.limits.entryCount = entryLimit
            environment.limits.depth = Self.depthLimit
            environment.limits.seconds = max(0, min(Self.listingSeconds, deadline - environment.monotonicSeconds()))
            var budget = ScanBudget(environment)
            let roots = log.roots(in: environment)
            let walk = DirectoryWalk(
                roots: roots, budget: &budget, acceptsFiles: true, isEntered: log.isEntered, isWanted: log.isWanted)
            for file in walk.files {
                let found = TokenFile(path: file.path, root: roots[file.root])
                let status = file.status.includingDatabaseLog(of: file.path)
                listing.found.append(Found(log: log, file: found, status: status))
            }
            if !walk.errors.isEmpty {
                listing.unreadable[log.source, default: []] += walk.errors.map(\.path)
            }
            issues += walk.errors.map { "cannot read \($0.path): \($0.sourceMessage)" }
            if budget.isExceeded {
                listing.unlisted.insert(log.source)
                issues.append(
                    budget.isOutOfTime
                        ? "\(log.source): listing its files took too long; the rest was left out"
                        : "\(roots.first ?? log.source): more than \(entryLimit) files or"
                            + " \(Self.depthLimit) levels of directories; the rest was left out")
            }
        }
        return listing
    }

    private func logsHash(in environment: SourceEnvironment) -> UInt64 {
        var hash = ContentHash(seed: UInt64(MemoryLayout<TokenBucket>.stride))
        for log in logs {
            hash.add(log.source)
            hash.add(UInt64(log.version))
            for root in log.roots(in: environment) { hash.add(root) }
        }
        return hash.value
    }
}

/// One update.
private struct Pass {
    let listing: TokenLedger.Listing
    let logsHash: UInt64
    let cacheFile: LocalFile?
    let environment: SourceEnvironment
    let prices: ModelPrices
    let deadline: Double
    let options: TokenLedger.Options
    var issues: [String]

    /// Nil when the cache is damaged: then all has to be read without it.
    func run(ignoringCache: Bool) -> TokenUsage? {
        guard let cacheFile else { return update(nil, in: nil) }
        do throws(FileError) {
            return try cacheFile.withOpen { file throws(FileError) in
                let cache = ignoringCache ? nil : TokenCache.read(file)
                return update(cache, in: file)
            }
        } catch {
            return update(nil, in: nil)
        }
    }

    private func update(_ old: consuming TokenCache?, in file: OpenFile?) -> TokenUsage? {
        let isKept = old != nil
        var cache = old.take() ?? TokenCache()
        // What other readers have made of files counts only when these are gone.
        let isCurrent = cache.logs == logsHash
        var known: [FileStatus.Identity: Int] = [:]
        var deleted: [String: Int] = [:]
        for (index, state) in cache.files.enumerated() where !state.isFree {
            if state.isDeleted { deleted[state.file.path] = index } else { known[state.identity] = index }
        }
        var jobs: [TokenScan.Job] = []
        var new: [TokenLedger.Found] = []
        var present = Set<Int>()
        for found in listing.found {
            guard isCurrent, let index = known[found.status.identity],
                cache.files[index].source == found.log.source,
                cache.files[index].continues(as: found.file, found.status),
                present.insert(index).inserted
            else {
                new.append(found)
                continue
            }
            cache.files[index].file = found.file
            let state = cache.files[index]
            if state.isCurrent(found.status), state.isComplete, !state.hasFailed { continue }
            jobs.append(TokenScan.Job(log: found.log, index: index, state: state, status: found.status))
        }
        let gone = cache.files.indices.filter {
            let state = cache.files[$0]
            guard !state.isFree, !state.isDeleted, !present.contains($0) else { return false }
            // What was not listed may still be there.
            let isListed =
                !listing.unlisted.contains(state.source)
                && listing.unreadable[state.source] == nil
            return !isCurrent || isListed || isGone(state)
        }
        let (expired, isTooMany) = expired(among: cache.files)
        if isKept, isCurrent, jobs.isEmpty, new.isEmpty, gone.isEmpty, expired.isEmpty, cache.prices == prices.hash {
            return usage(of: cache, issues: issues)
        }
        for index in gone {
            cache.files[index].isDeleted = true
            cache.files[index].modified = Int64(options.now.timeIntervalSince1970) * 1_000_000_000
            // Two with one path are this one and a new one.
            deleted[cache.files[index].file.path] = index
        }
        // A file has taken its place, or it is read in another way. Of a log what is not in the new one still counts.
        var freed = expired
        if !isCurrent { freed += new.compactMap { known[$0.status.identity] } }
        let replaced = new.compactMap { deleted[$0.file.path] }
        freed += new.filter { !isCurrent || $0.isDocument }.compactMap { deleted[$0.file.path] }
        let ages = new.map { found in
            [deleted[found.file.path], isCurrent ? nil : known[found.status.identity]].compactMap { $0 }
                .map { cache.files[$0].since }.min()
        }
        // What gets lost here is nothing that files have taken back.
        let unfinished = gone.filter { !cache.files[$0].isComplete }
        if isTooMany || !unfinished.allSatisfy(freed.contains) { cache.id = TokenCache().id }
        for index in freed { cache.files[index] = .free }
        // Their places are taken by others below.
        let continued = Set(replaced).subtracting(freed)
        var replacements: [UInt32: UInt32] = [:]
        var places = cache.files.indices.filter { cache.files[$0].isFree }
        for (found, since) in zip(new, ages) {
            var state = TokenCache.FileState(found.file, source: found.log.source, found.status)
            state.since = min(state.since, since ?? state.since)
            let index = places.popLast() ?? cache.files.count
            if let old = deleted[found.file.path], continued.contains(old) {
                replacements[UInt32(old)] = UInt32(index)
            }
            if index == cache.files.count {
                cache.files.append(state)
            } else {
                cache.files[index] = state
            }
            jobs.append(TokenScan.Job(log: found.log, index: index, state: state, status: found.status, isNew: true))
        }
        return merge(
            &cache, in: file, jobs, dropped: Set(freed.map(UInt32.init)), replacements,
            isOutdated: !isKept || !isCurrent || !gone.isEmpty)
    }

    /// The files that are gone for so long, or are so many, that what they stated is dropped.
    private func expired(among files: [TokenCache.FileState]) -> (files: [Int], areTooMany: Bool) {
        let start = Int64(options.now.timeIntervalSince1970) - Int64(TokenLedger.keptDayCount * 86_400)
        let deleted = files.indices.filter { files[$0].isDeleted }
        let old = deleted.filter { files[$0].modified / 1_000_000_000 < start }
        guard deleted.count - old.count > TokenLedger.keptFileLimit else { return (old, false) }
        let sorted = deleted.sorted { files[$0].modified < files[$1].modified }
        return (Array(sorted.dropLast(TokenLedger.keptFileLimit)), true)
    }

    /// False as well when that cannot be known.
    private func isGone(_ state: TokenCache.FileState) -> Bool {
        do throws(FileError) {
            return try FileStatus(path: state.file.path)?.identity != state.identity
        } catch {
            return false
        }
    }

    /// - Parameters:
    ///   - dropped: files whose records in the cache do not count any more.
    ///   - replacements: by deleted files those that have taken their places.
    ///   - isOutdated: whether the cache in `file` is to be replaced whatever is read.
    private func merge(
        _ cache: inout TokenCache, in file: OpenFile?, _ jobs: [TokenScan.Job], dropped: Set<UInt32>,
        _ replacements: [UInt32: UInt32], isOutdated: Bool
    ) -> TokenUsage? {
        let spool = TokenSpool(
            // Without a file the records stay in memory.
            scratch: try? ScratchFile(
                for: cacheFile ?? LocalFile(FileManager.default.temporaryDirectory.path + "/tokens")))
        let names = TokenNames(.init(sessions: cache.sessions, models: cache.models))
        let scan = TokenScan(names: names, spool: spool, environment: environment, deadline: deadline)
        let byteCount = jobs.reduce(0) {
            $0 + max(0, Int($1.state.byteCount - $1.state.offset))
        }
        let result = scan.run(jobs.sorted(by: isBefore)) { options.progress($0, byteCount) }
        for (index, state) in result.states { cache.files[index] = state }
        let dropped = dropped.union(result.replaced)
        let isReplaced =
            isOutdated || !dropped.isEmpty || cache.prices != prices.hash
            || isWorthKeeping(result, jobs, beside: file)
        if !isReplaced, spool.isEmpty { return usage(of: cache, issues: issues + result.issues) }
        // They are summed again, and may be many.
        cache.buckets = []
        cache.keptBuckets = nil
        let (target, failure) = isReplaced ? newCache() : (nil, nil)
        let content = names.current
        cache.sessions = content.sessions
        cache.models = content.models
        cache.logs = logsHash
        cache.prices = prices.hash
        let merge = PartMerge(
            old: cache.parts, file: file, spool: spool, dropped: dropped, replacements: replacements,
            files: cache.files, sessions: cache.sessions, prices: cache.models.map(prices.match), target: target)
        guard let merged = merge.run() else { return nil }
        cache.buckets = merged.buckets
        cache.keptBuckets = merged.keptBuckets
        for old in Set(replacements.keys).subtracting(merged.remaining) { cache.files[Int(old)] = .free }
        cache.parts = merged.parts
        let issue = (failure ?? merged.failure ?? keep(cache, in: target, at: merged.end)).map {
            "what was read is not kept, and is read again each time: \($0)"
        }
        return usage(of: cache, issues: [issue].compactMap { $0 } + issues + result.issues)
    }

    /// Whether what was read is enough to replace the cache, which may be large: until then the same is read again.
    private func isWorthKeeping(_ result: TokenScan.Result, _ jobs: [TokenScan.Job], beside file: OpenFile?) -> Bool {
        let byteCount = file?.status.byteCount ?? 0
        return Int64(result.byteCount) * 8 >= byteCount - 1_048_576
            || jobs.count { $0.isNew } >= 64 || environment.monotonicSeconds() >= deadline
    }

    /// A file for the next cache; nil to keep none, and with the reason where there cannot be one.
    private func newCache() -> (file: ScratchFile?, failure: FileError?) {
        guard let cacheFile else { return (nil, nil) }
        do throws(FileError) {
            try cacheFile.directory.create()
            // The next time tries again.
            try? cacheFile.directory.removeAbandonedFiles()
            return (try ScratchFile(for: cacheFile), nil)
        } catch {
            return (nil, error)
        }
    }

    /// Returns why the cache cannot be kept.
    private func keep(_ cache: TokenCache, in target: ScratchFile?, at end: Int64) -> FileError? {
        guard let target else { return nil }
        do throws(FileError) {
            try cache.write(to: target, at: end)
            try target.replaceFile()
            return nil
        } catch {
            return error
        }
    }

    /// With a deadline the newest files first, else the largest, so that no thread is left alone with one.
    private func isBefore(_ left: TokenScan.Job, _ right: TokenScan.Job) -> Bool {
        deadline.isFinite ? left.state.modified > right.state.modified : left.state.byteCount > right.state.byteCount
    }

    private func usage(of cache: TokenCache, issues: [String]) -> TokenUsage {
        var usage = TokenUsage()
        usage.sessions = cache.sessions
        usage.models = cache.models
        usage.cache = cache.id
        usage.buckets = cache.buckets
        usage.keptBuckets = cache.keptBuckets ?? cache.buckets
        for state in cache.files where !state.isFree && !state.isDeleted {
            usage.files[state.source, default: .init()].count += 1
            if !state.isComplete { usage.files[state.source]?.unfinishedCount += 1 }
            if state.hasFailed {
                usage.unreadable[state.source, default: []].append(state.file.path)
            }
        }
        usage.issues = issues
        usage.unlisted = listing.unlisted
        usage.unreadable.merge(listing.unreadable) { Array(Set($0 + $1)).sorted() }
        usage.leftOut = cache.files.filter { $0.leftOutCount > 0 && !$0.isDeleted }.map {
            TokenUsage.LeftOut(path: $0.file.path, source: $0.source, count: $0.leftOutCount)
        }.sorted { ($1.count, $0.path) < ($0.count, $1.path) }
        return usage
    }
}
