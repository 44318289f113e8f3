/// A broken rule of the nodes, by which the search shows that its checks can fail.
enum PlantedBug: Sendable, CaseIterable {
    case commitsWithoutRevision, commitsWithoutHorizon, commitsWithoutGeneration
    case comparesStoreGenerationOnly
    case countsGenerations
    case answersBeforeCommit, takesLostOutcomeForSuccess, doesNotVerifyEmptyPlans
    case answersFromLaterGeneration, answersFromMovedCache, appliesPlanToMovedCache
    case pullsFromCache, opensStreamWithoutRefresh, neverSweeps, sweepComparesRevisionsOnly
    case appliesOlderRead, ignoresHorizon
    case keepsCacheOverFailover, keepsEpochOverFailover, doesNotBreakEpochs, keepsStreamsOverFailover
}
