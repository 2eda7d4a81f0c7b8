internal import Foundation
internal import RemoteStore
internal import WebTransport

/// One run of all checks.
struct Verification {
    private let backend: WebBackend
    private let sampleCount: Int
    private let entities: Set<String>?
    private let probe: ServiceProbe

    init(_ backend: WebBackend, sample: Int, entities: Set<String>?, requests: Int) {
        (self.backend, sampleCount, self.entities) = (backend, sample, entities)
        probe = ServiceProbe(backend, limit: requests)
    }

    /// Returns the findings, and the claims that were not tried.
    func report() async throws -> VerificationReport {
        var report = VerificationReport()
        let survey = try await survey(&report)
        for phase in VerificationCheck.Phase.allCases {
            for (check, trial, sample) in Self.byTurns(VerificationCheck.all.filter { $0.phase == phase }, survey) {
                try await run(trial, of: check, sample, &report)
            }
        }
        report.requestCount = probe.count
        return report
    }

    /// Reads the lists that need no parameters.
    private func survey(_ report: inout VerificationReport) async throws -> Survey {
        var survey = Survey()
        for plan in backend.service.plans.values.sorted(by: { $0.entity < $1.entity }) where entities?.contains(plan.entity) ?? true {
            let sample = EntitySample(plan, backend)
            survey.samples[plan.entity] = sample
            for call in plan.calls where call.call.returns != .one && call.endpoint.parameters.allSatisfy({ !$0.isRequired }) {
                do { sample.add(try await probe.read(sample.request(call), plan, call, resources: sampleCount)) } catch let refusal
                    as ServiceProbe.Refusal
                {
                    if refusal.mayPass { throw refusal.error }
                    report.add([Self.finding(refusal, "the list", VerificationCheck.list, sample, call, .call)])
                } catch is ServiceProbe.OutOfRequests {
                    report.untried.append(Self.untried(VerificationCheck.list, plan.entity, call.call.name, Self.outOfRequests))
                }
            }
            if sample.lists.isEmpty,
                plan.calls.allSatisfy({ $0.call.returns == .one || $0.endpoint.parameters.contains(where: \.isRequired) })
            {
                report.untried.append(
                    Self.untried(VerificationCheck.list, plan.entity, "all", "It has no list without required parameters."))
            }
        }
        return survey
    }

    /// Returns the trials of checks in rotation: the first one of each check and entity, then the second one, and so on.
    private static func byTurns(_ checks: [VerificationCheck], _ survey: Survey) -> [(String, Trial, EntitySample)] {
        let samples = survey.samples.values.filter { !$0.lists.isEmpty }.sorted { $0.plan.entity < $1.plan.entity }
        let all = checks.flatMap { check in samples.map { (check.name, check.trials($0, survey), $0) } }
        let longest = all.map(\.1.count).max() ?? 0
        return (0..<longest).flatMap { turn in
            all.compactMap { name, trials, sample in turn < trials.count ? (name, trials[turn], sample) : nil }
        }
    }

    private func run(_ trial: Trial, of check: String, _ sample: EntitySample, _ report: inout VerificationReport) async throws {
        let entity = sample.plan.entity
        do {
            let found = try await trial.run(probe)
            report.add(found)
            // Comparisons with the list must not report what its pages lack.
            if found.contains(where: { $0.capability == .paging || $0.capability == .count }) { sample.doubt() }
        } catch let refusal as ServiceProbe.Refusal where !refusal.mayPass {
            report.add([Self.finding(refusal, trial.asked, check, sample, trial.call, trial.capability)])
        } catch {
            let reason: String =
                switch error {
                case let refusal as ServiceProbe.Refusal: refusal.error.localizedDescription
                case is ServiceProbe.OutOfRequests: Self.outOfRequests
                case let unwritable as ServiceProbe.Unwritable: unwritable.reason
                case let untried as Trial.Untried: untried.reason
                case let error as TransportError: "\(error)"
                default: throw error
                }
            report.untried.append(Self.untried(check, entity, trial.asked, reason))
        }
    }

    private static let outOfRequests = "The requests were used up. Allow more."

    private static func untried(_ check: String, _ entity: String, _ asked: String, _ reason: String) -> VerificationReport.Untried {
        VerificationReport.Untried(check: check, entity: entity, asked: asked, reason: reason)
    }

    private static func finding(
        _ refusal: ServiceProbe.Refusal, _ asked: String, _ check: String, _ sample: EntitySample, _ call: CallPlan,
        _ capability: CapabilityFinding.Capability
    ) -> CapabilityFinding {
        sample.finding(
            capability, check, call, asked, claim: sample.claims.call(call), seen: "It failed: \(refusal.error.localizedDescription)",
            request: refusal.request, advice: "Compare the description with what the service takes, and leave out what it refuses.")
    }
}

/// A trial of a claim: the object of the check, and the conclusion from the answer.
struct Trial {
    let asked: String
    let call: CallPlan
    let capability: CapabilityFinding.Capability
    let run: (ServiceProbe) async throws -> [CapabilityFinding]

    /// The sample has no values for the trial.
    struct Untried: Error { let reason: String }

    init(
        _ asked: String, _ call: CallPlan, _ capability: CapabilityFinding.Capability,
        run: @escaping (ServiceProbe) async throws -> [CapabilityFinding]
    ) { (self.asked, self.call, self.capability, self.run) = (asked, call, capability, run) }
}

/// A check: its name, its phase, and its trials for the resources of an entity.
struct VerificationCheck {
    /// The phases of checks.
    enum Phase: CaseIterable {
        /// First, because other checks compare with the lists.
        case lists
        case claims
        /// Last, with the answers that other checks have read.
        case conclusions
    }

    let name: String
    let phase: Phase
    let trials: (EntitySample, Survey) -> [Trial]

    /// The name of the step before all checks, which reads the lists.
    static let list = "lists"

    /// All checks, in the order of their turns.
    static var all: [VerificationCheck] {
        [
            VerificationCheck(name: PageCheck.name, phase: .lists, trials: PageCheck.trials),
            VerificationCheck(name: CountCheck.name, phase: .lists, trials: CountCheck.trials),
            VerificationCheck(name: ValueCheck.name, phase: .claims, trials: ValueCheck.trials),
            VerificationCheck(name: OneCheck.name, phase: .claims, trials: OneCheck.trials),
            VerificationCheck(name: MissingCheck.name, phase: .claims, trials: MissingCheck.trials),
            VerificationCheck(name: FilterCheck.name, phase: .claims, trials: FilterCheck.trials),
            VerificationCheck(name: OrderCheck.name, phase: .claims, trials: OrderCheck.trials),
            VerificationCheck(name: ReferenceCheck.name, phase: .claims, trials: ReferenceCheck.trials),
            VerificationCheck(name: ListOfReferencesCheck.name, phase: .claims, trials: ListOfReferencesCheck.trials),
            VerificationCheck(name: OwnedListCheck.name, phase: .claims, trials: OwnedListCheck.trials),
            VerificationCheck(name: EmbeddedCheck.name, phase: .claims, trials: EmbeddedCheck.trials),
            VerificationCheck(name: IncludeCheck.name, phase: .claims, trials: IncludeCheck.trials),
            VerificationCheck(name: FieldsCheck.name, phase: .claims, trials: FieldsCheck.trials),
            VerificationCheck(name: ConditionCheck.name, phase: .claims, trials: ConditionCheck.trials),
            VerificationCheck(name: FeedCheck.name, phase: .claims, trials: FeedCheck.trials),
            VerificationCheck(name: VersionCheck.name, phase: .conclusions, trials: VersionCheck.trials),
        ]
    }
}
