/// What a service does otherwise than its description says: a filter that it ignores, an order that is another one.
public struct CapabilityFinding: Hashable, Sendable, CustomStringConvertible {
    /// The kinds of what a description claims.
    public enum Capability: String, Hashable, Sendable, CaseIterable {
        /// A filter finds what it should, and nothing else.
        case filter
        /// An order is the one that was asked for.
        case order
        /// The number of resources is right.
        case count
        /// Pages are as large as was asked for, and together bring everything once.
        case paging
        /// The call can be asked at all, and its answer read.
        case call
        /// Answers have the properties that they should have, in the form that is described.
        case value
        /// A resource that is read alone is the one that was asked for, with the values that the list has.
        case one
        /// Versions are there, and change when and only when the resource does.
        case version
        /// References lead to resources, and both ends of a relationship agree.
        case relationship
        /// Resources that come along are what they are when they are read themselves.
        case embedding
        /// Answers have the properties that were asked for, and no others.
        case fields
        /// The feed of changes tells what has changed since a token, and nothing else.
        case changes
    }

    /// What is false.
    public let capability: Capability
    /// The name of the check that has found it.
    public let check: String
    /// The entity.
    public let entity: String
    /// The call.
    public let call: String
    /// What was asked, or looked at: `year >= 1969`, `title descending`, `price`.
    public let asked: String
    /// The place in the description that claims otherwise, with what it says: `style.filters.equal: {name}={value}`.
    public let claim: String
    /// What was seen.
    public let seen: String
    /// A request that shows it, without secrets: method and address.
    public let request: String
    /// What to do about it.
    public let advice: String

    /// What was asked and seen, and on further lines the claim, a request that shows it, and what to do.
    public var description: String {
        """
        \(entity).\(call): \(capability.rawValue) “\(asked)”: \(seen)
          claimed by \(claim)
          seen by \(request)
          \(advice)
        """
    }

    /// What two findings have in common that say the same of several resources.
    struct Topic: Hashable {
        let check: String
        let entity: String
        let call: String
        let asked: String
        let capability: Capability
    }

    var topic: Topic { Topic(check: check, entity: entity, call: call, asked: asked, capability: capability) }
}
