import ArgumentParser
import Commands
import Essentials
import KVStoreEssentials
import KVStoreHTTP
import TerminalText
import UsagePusher
import UsageState

struct ProjectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "Rename, merge and hide the projects of past usage, on all machines.",
        discussion: """
            A project is a repository, or a directory outside any. What you say here changes how reports, budgets and \
            the gate see past and later usage, and nothing of what is recorded, so that it can be undone. Names that \
            you give are stored in the account, where the daemon can read them.

            A project is given by its name in 'usage-view project', or by the 12 digits there.

            EXAMPLES
              usage-view project
              usage-view project rename owner/app Backend
              usage-view project merge owner/app-old owner/app
              usage-view project split owner/app-old
              usage-view project hide owner/secret
              usage-view project show owner/secret
            """,
        subcommands: [List.self, Rename.self, Merge.self, Split.self, Hide.self, Show.self],
        defaultSubcommand: List.self)

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the projects, and what was said of them.")

        @Flag(help: "Print JSON.")
        var json = false

        @OptionGroup var wait: TimeoutOption

        func run() async throws {
            let known = try await Known.read(within: wait.seconds)
            let listed = known.hashes.map { Listed($0, known.names) }.sorted { ($0.name, $0.key) < ($1.name, $1.key) }
            if json { return try Console.printJSON(listed, isIndented: true) }
            if listed.isEmpty { try Console.print("No projects yet; they come with 'usage-push'.") }
            for project in listed {
                let remarks = [
                    project.originalName.map { "originally " + $0 },
                    project.countsAs.map { "counts as " + $0 }, project.isHidden ? "hidden" : nil,
                ]
                let text = ([project.name] + remarks.compactMap(\.self)).joined(separator: ", ")
                try Console.print(VisibleText.escape("\(project.key)  \(text)"))
            }
        }

        private struct Listed: Encodable {
            var name: String
            /// If it is renamed.
            var originalName: String?
            var key: String
            var countsAs: String?
            var isHidden: Bool

            init(_ hash: String, _ names: ProjectNames) {
                name = names.ownName(of: hash)
                originalName = names.rules[hash].name.flatMap { _ in names.originalName(of: hash) }
                key = hash
                let target = names.rules.target(of: hash)
                countsAs = target == hash ? nil : names.ownName(of: target)
                isHidden = names.rules[hash].isHidden
            }
        }
    }

    struct Rename: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename", abstract: "Give a project another name on all machines.")

        @OptionGroup var project: ProjectArgument

        @Argument(help: "The new name; none for that of the repository or directory.")
        var name: String?

        func validate() throws {
            if let name, !ProjectRule.isName(name) {
                throw ValidationError("a name is one line of at most 120 bytes")
            }
        }

        func run() async throws {
            try await project.change(name.map { "is called \($0)" } ?? "has its own name") { rule, hash, known in
                let others = known.hashes.subtracting([hash])
                if let name,
                    name == ProjectNames.hidden || others.contains(where: { known.names.ownName(of: $0) == name })
                {
                    throw CommandFailure(
                        .usage,
                        "'\(name)' is the name of other usage; to add them up: usage-view project merge PROJECT OTHER")
                }
                rule.name = name
            }
        }
    }

    struct Merge: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "merge", abstract: "Let the past and later usage of a project count as that of another.")

        @OptionGroup var project: ProjectArgument

        @Argument(help: "The project as which it counts.")
        var other: String

        func run() async throws {
            try await project.change("counts as \(other)") { rule, hash, known in
                let target = known.names.rules.target(of: try known.hash(of: other))
                guard target != hash else {
                    throw CommandFailure(.usage, "'\(other)' counts as '\(project.name)' already")
                }
                rule.into = target
            }
        }
    }

    struct Split: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "split", abstract: "Let a project count as itself again.")

        @OptionGroup var project: ProjectArgument

        func run() async throws {
            try await project.change("counts as itself") { rule, _, _ in rule.into = nil }
        }
    }

    struct Hide: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "hide",
            abstract: "Count a project under the name 'hidden' in reports, with the others that are hidden.")

        @OptionGroup var project: ProjectArgument

        func run() async throws {
            try await project.change("is hidden in reports") { rule, _, _ in rule.isHidden = true }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "show", abstract: "Hide a project no longer.")

        @OptionGroup var project: ProjectArgument

        func run() async throws {
            try await project.change("is shown in reports") { rule, _, _ in rule.isHidden = false }
        }
    }

    /// The projects that are known.
    struct Known {
        var names: ProjectNames
        /// All, with those of which only a rule is known.
        var hashes: Set<String>

        static func read(within seconds: Double) async throws -> Known {
            let rules = try await UsageReader.read(storeNamed: StoreOption.defaultName, within: seconds, \.projects)
            let keys = try await LedgerPages.read(within: seconds).projectKeys
            return Known(
                names: ProjectNames(rules, keys: keys),
                hashes: Set(keys.map(LedgerProjects.hash(ofKey:))).union(rules.rules.keys))
        }

        /// - Parameter project: its own name, that of its repository or directory, or its digits.
        func hash(of project: String) throws(CommandFailure) -> String {
            let found = hashes.filter {
                [$0, names.ownName(of: $0), names.originalName(of: $0)].contains(project)
            }
            try ProjectNames.requireOne(found, project)
            return found.first ?? project
        }
    }

    struct ProjectArgument: ParsableArguments {
        @Argument(help: ArgumentHelp("The project.", valueName: "project"))
        var name: String

        @OptionGroup var wait: TimeoutOption

        /// Changes what is said of the project.
        ///
        /// - Parameters:
        ///   - text: completes a sentence about it.
        ///   - change: gets the present rule, and the project's digits.
        func change(
            _ text: String, _ change: (inout ProjectRule, _ hash: String, Known) throws -> Void
        ) async throws {
            let known = try await Known.read(within: wait.seconds)
            let hash = try known.hash(of: name)
            var counts = ""
            let delivery = try await UsageReader.change(storeNamed: StoreOption.defaultName) { values in
                let rules = ProjectRules(stored: values)
                var rule = rules[hash]
                try change(&rule, hash, known)
                guard rules.rules.count < ProjectRules.countLimit || rules.rules[hash] != nil || rule.data == nil else {
                    throw CommandFailure(
                        .configuration, "no more than \(ProjectRules.countLimit) projects can be changed")
                }
                if let target = rule.into, target == rules[hash].into {
                    counts = ", and counts as " + known.names.ownName(of: target)
                }
                return (ProjectRules.storeKey(of: hash), rule.data)
            }
            try Console.print(VisibleText.escape("\(name) \(text)\(counts)\(delivery)"))
        }
    }
}
