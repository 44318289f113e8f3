/// What programs that read ccusage decode, strictly: its members as docs/report-shapes.md has them.
enum Ccusage {
    struct Report: Decodable {
        var daily, weekly, monthly, session, sessions: [Row]?
        var projects: [String: [Row]]?
        var totals: Totals
    }

    struct Totals: Decodable {
        var inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens, totalTokens: Int
        var totalCost: Double
    }

    struct Row: Decodable {
        struct Breakdown: Decodable {
            var modelName: String
            var inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens: Int
            var cost: Double
        }

        struct Metadata: Decodable {
            var agents: [String]?
            var lastActivity: String?
        }

        var date, week, month, period, sessionId, agent, project: String?
        var projectPath, lastActivity, firstActivity: String?
        var inputTokens, outputTokens, cacheCreationTokens, cacheReadTokens, totalTokens: Int
        var totalCost: Double
        var modelsUsed: [String]
        var modelBreakdowns: [Breakdown]
        var metadata: Metadata?
    }

    struct CodexReport: Decodable {
        struct Row: Decodable {
            struct Model: Decodable {
                var inputTokens, cacheCreationTokens, cacheReadTokens, outputTokens: Int
                var reasoningOutputTokens, totalTokens: Int
                var isFallback: Bool
            }

            var date, month, sessionId, lastActivity, sessionFile, directory: String?
            var inputTokens, cacheCreationTokens, cacheReadTokens, outputTokens: Int
            var reasoningOutputTokens, totalTokens: Int
            var costUSD: Double
            var models: [String: Model]
        }

        var daily, monthly, sessions: [Row]?
        var totals: Totals

        struct Totals: Decodable {
            var inputTokens, cacheCreationTokens, cacheReadTokens, outputTokens: Int
            var reasoningOutputTokens, totalTokens: Int
            var costUSD: Double
        }
    }

    struct Blocks: Decodable {
        struct Block: Decodable {
            struct Counts: Decodable {
                var inputTokens, outputTokens, cacheCreationInputTokens, cacheReadInputTokens: Int
            }

            struct Rate: Decodable {
                var tokensPerMinute, tokensPerMinuteForIndicator, costPerHour: Double
            }

            struct Projection: Decodable {
                var totalTokens, remainingMinutes: Int
                var totalCost: Double
            }

            struct Limit: Decodable {
                var limit, projectedUsage: Int
                var percentUsed: Double
                var status: String
            }

            var id, startTime, endTime: String
            var actualEndTime: String?
            var isActive, isGap: Bool
            var entries, totalTokens: Int
            var tokenCounts: Counts
            var costUSD: Double
            var models: [String]
            var burnRate: Rate?
            var projection: Projection?
            var tokenLimitStatus: Limit?
        }

        var blocks: [Block]
    }
}
