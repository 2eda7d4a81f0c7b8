import CoreData
import Foundation
import TestSupport
import Testing
import WebBackend
import WebTransport

@Suite("Finding where a service lies about its description") struct LieTests {
    private func verify(_ library: Library, _ service: WebService) async throws -> VerificationReport {
        var options = WebClient.Options()
        options.retries = .never
        let backend = try WebBackend(service, model: Library.model(), transport: library, options: options)
        return try await backend.verify()
    }

    private func verify(_ library: Library) async throws -> VerificationReport {
        let isOfJournal = library.lies.contains(where: \.isOfJournal)
        return try await verify(library, isOfJournal ? Library.journal() : Library.description(library.manners))
    }

    @Test("A service that does what is described is not blamed, however it writes, and everything is tried within the requests")
    func truth() async throws {
        let seed = TestSeed.current(for: "A truthful service")
        let manners: [Set<Library.Manner>] = [[]] + Library.Manner.allCases.map { [$0] } + [Set(Library.Manner.allCases)]
        for (number, manners) in manners.enumerated() {
            let library = Library(seed: seed &+ UInt64(number), manners: manners)
            for service in [Library.description(manners), Library.journal()] {
                let report = try await verify(library, service)
                #expect(report.isEmpty && report.untried.isEmpty, "seed \(seed), \(manners): \(report)")
                #expect(report.requestCount > 0 && report.requestCount <= 60)
            }
        }
    }

    @Test("Each lie is found, with the claim, what was seen, a request that shows it, and what to do", arguments: Lie.allCases)
    func lie(_ lie: Lie) async throws {
        let seed = TestSeed.current(for: "\(lie)")
        let report = try await verify(Library(seed: seed, lies: [lie]))
        let finding = report.first { lie.expectation.isMet(by: $0) }
        #expect(finding != nil, "seed \(seed): \(lie) was not found: \(report)")
        #expect(report.requestCount <= 60)
        if let finding {
            #expect(finding.request.hasPrefix("GET \(base)/") && !finding.seen.isEmpty && finding.advice.hasSuffix("."), "\(finding)")
        }
    }

    // With the second seed the requests are used up before the lie about dates is tried.
    @Test(
        "Of several lies each is found that no other one hides, or is among what was not tried",
        arguments: [nil, 3_778_361_090_494_607_137])
    func several(known: UInt64?) async throws {
        let seed = known ?? TestSeed.current(for: "Several lies")
        var random = SeededGenerator(seed: seed)
        let budget = TestBudget(seconds: known == nil ? 1 : 0, atLeast: 5)
        var done = 0
        while budget.isLeft(after: done) {
            done += 1
            var lies: Set<Lie> = []
            for lie in Lie.allCases.filter({ !$0.isOfJournal }).shuffled(using: &random) where lies.count < 2 + random.below(4) {
                if !lies.contains(where: { $0.canBeHidden(by: lie) || lie.canBeHidden(by: $0) }) { lies.insert(lie) }
            }
            let library = Library(seed: random.next(), lies: lies)
            let report = try await verify(library)
            for lie in lies {
                let expectation = lie.expectation
                // Other lies cost further requests.
                let isUntried = report.untried.contains {
                    $0.entity == expectation.entity && $0.asked.contains(expectation.asked) && $0.reason.contains("requests were used up")
                }
                #expect(
                    isUntried || report.contains { expectation.isMet(by: $0) },
                    "seed \(seed): \(lie) among \(lies) was not found: \(report)")
            }
            #expect(report.requestCount <= 60)
        }
    }

    @Test("No request is sent beyond the number that is allowed, and what was not tried for it is named") func requests() async throws {
        for limit in [0, 5, 25] {
            let library = Library(seed: 7)
            let backend = try WebBackend(Library.description(), model: Library.model(), transport: library)
            let report = try await backend.verify(requests: limit)
            expect(report.requestCount, equals: limit)
            #expect(report.isEmpty && report.untried.contains { $0.reason.contains("requests were used up") }, "\(report)")
        }
    }

    @Test("No credential is in a finding, though the service repeats what it was sent") func secrets() async throws {
        let library = Library(seed: 7)
        let echo = ScriptedService { request in
            request.query("min_pages") == nil
                ? WebResponse(status: 500)
                : .json("{\"message\": \"\(request.headers["Authorization"] ?? "") \(request.url) is refused\"}", status: 400)
        }
        var options = WebClient.Options()
        options.retries = .never
        options.authentication = .all([.bearer(.value("hush-hush-1")), .query(name: "key", value: .value("hush-hush-2"))])
        let backend = try WebBackend(
            Library.description(), model: Library.model(), transport: EitherTransport(library, echo) { $0.query("min_pages") != nil },
            options: options)
        let report = try await backend.verify()
        #expect(report.contains { $0.asked.contains("pages >=") && $0.seen.contains("is refused") }, "\(report)")
        #expect(!"\(report)".contains("hush"), "\(report)")
    }
}

/// Sends some requests to a second service.
private struct EitherTransport: Transport {
    let first: any Transport
    let second: any Transport
    let isForSecond: @Sendable (WebRequest) -> Bool

    init(_ first: any Transport, _ second: any Transport, isForSecond: @escaping @Sendable (WebRequest) -> Bool) {
        (self.first, self.second, self.isForSecond) = (first, second, isForSecond)
    }

    func send(_ request: WebRequest, limits: TransportLimits) async throws -> WebResponse {
        try await (isForSecond(request) ? second : first).send(request, limits: limits)
    }
}
