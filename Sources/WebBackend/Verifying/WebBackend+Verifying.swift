internal import Foundation
internal import RemoteStore

/// What a service does otherwise than its description says: a filter that it ignores, an order that is another one.
public struct CapabilityFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of what a description claims.
    public enum Capability: String, Hashable, Sendable {
        /// A filter finds what it should, and nothing else.
        case filter
        /// An order is the one that was asked for.
        case order
        /// The number of resources is right.
        case count
        /// Pages are as large as was asked for, and together bring everything.
        case paging
        /// The call can be asked at all, and its answer read.
        case call
    }

    /// What is false.
    public let capability: Capability
    /// The entity.
    public let entity: String
    /// The call.
    public let call: String
    /// What was asked: `year >= 1969`, `title descending`.
    public let asked: String
    /// What was seen.
    public let seen: String

    /// The finding as one line.
    public var description: String { "\(entity).\(call): \(capability.rawValue) “\(asked)”: \(seen)" }
}

extension WebBackend {
    /// Reads a sample of each resource unfiltered, and again as filters, orders, counts and pages would have it, and names every capability
    /// that is false.
    ///
    /// It only reads. Resources that others insert or delete meanwhile can look like findings: repeat it where there are any.
    ///
    /// ```swift
    /// for finding in try await backend.verify(sample: 200) { print(finding) }
    /// ```
    ///
    /// Call it on any thread.
    ///
    /// - Parameters:
    ///   - sample: The number of resources of each entity to read.
    ///   - entities: The entities; nil for all that have a list without required parameters.
    /// - Returns: What is false; empty where everything that was tried is as described.
    /// - Throws: The errors of the unfiltered reads.
    public func verify(sample: Int = 200, entities: Set<String>? = nil) async throws -> [CapabilityFinding] {
        var findings: [CapabilityFinding] = []
        for plan in service.plans.values.sorted(by: { $0.entity < $1.entity }) where entities?.contains(plan.entity) ?? true {
            for call in plan.calls where call.call.returns != .one && call.endpoint.parameters.allSatisfy({ !$0.isRequired }) {
                findings += try await CapabilityTrial(backend: self, plan: plan, call: call, sample: sample).findings()
            }
        }
        return findings
    }
}
