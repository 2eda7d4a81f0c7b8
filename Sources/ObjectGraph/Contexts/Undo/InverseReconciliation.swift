internal import Foundation

/// The two ends of a link changed by an undo. They may disagree if others have changed one of them since and that change was merged.
struct ChangedLink {
    let object: NSManagedObject
    let relationship: NSRelationshipDescription
    let other: NSManagedObject
    /// Whether the other end decides: the object was restored with the relationships it had when it was deleted.
    var otherEndWins = false
    /// Whether the other end takes the link unless it refers elsewhere: the undo restores the other object, and a link that others have removed in
    /// the store meanwhile was removed here by the object's deletion.
    var fillsOtherEnd = false
    /// Whether the object referred to the other one before the undo, so that the other one refers back unless the undo changed that.
    var existedBefore = false
}

extension EventStep {
    /// The links that reverting the step changes.
    var changedLinks: [ChangedLink] {
        switch self {
        case .toOne(let object, let relationship, let before):
            let now = object.registry == nil ? nil : object.toOne(relationship)
            return [before, now].compactMap { $0 }.map {
                ChangedLink(object: object, relationship: relationship, other: $0, existedBefore: $0 === now)
            }
        case .added(let object, let relationship, let other), .removed(let object, let relationship, let other, _):
            return [ChangedLink(object: object, relationship: relationship, other: other)]
        case .replaced(let object, let relationship, let before, let after):
            return (before + after).map { ChangedLink(object: object, relationship: relationship, other: $0) }
        default: return []
        }
    }
}

extension NSManagedObject {
    /// Returns the links of a restored object, without those to deleted objects.
    ///
    /// - Parameter back: All restored objects.
    func linksAfterReturn(among back: Set<ObjectIdentifier>) -> [ChangedLink] {
        var links: [ChangedLink] = []
        for relationship in owningEntity.frozen!.relationships where relationship.mutualInverse != nil {
            for other in related(relationship) {
                if other.registry === registry {
                    let fills = flags.contains(.inserted) && back.contains(ObjectIdentifier(other))
                    links.append(
                        ChangedLink(object: self, relationship: relationship, other: other, otherEndWins: true, fillsOtherEnd: fills))
                } else {
                    lose(other, at: relationship)
                }
            }
        }
        return links
    }

    /// Returns whether a relationship refers to an object; nil if only the store knows: an unread end is as stored, and an undo fires no faults.
    fileprivate func refers(to other: NSManagedObject, by relationship: NSRelationshipDescription) -> Bool? {
        guard relationship.isToMany else { return toOne(relationship) === other }
        let storage = toManyWithoutLoading(relationship)
        if storage.isLoaded || storage.contains(other) { return storage.contains(other) }
        return storage.isUncertain(other) ? false : nil
    }

    fileprivate func lose(_ other: NSManagedObject, at relationship: NSRelationshipDescription) {
        if relationship.isToMany { take(other, outOf: relationship) } else { putToOne(nil, relationship, was: other) }
    }

    fileprivate func gain(_ other: NSManagedObject, at relationship: NSRelationshipDescription) {
        if relationship.isToMany {
            put(other, into: relationship)
        } else {
            putToOne(other, relationship, was: toOne(relationship))
        }
    }
}

extension NSManagedObjectContext {
    /// Makes the two ends of links agree: for a restored object the other ends decide, otherwise the to-one end, otherwise the end that
    /// the undo changes.
    func reconcile(_ links: [ChangedLink]) {
        for link in links {
            guard let inverse = link.relationship.mutualInverse, link.object.registry === registry, link.other.registry === registry
            else { continue }
            if link.object.flags.contains(.deleted) || link.other.flags.contains(.deleted) {
                cut(link, inverse)
                continue
            }
            if link.fillsOtherEnd { fill(link, inverse) }
            guard let refers = link.object.refers(to: link.other, by: link.relationship),
                let refersBack = link.other.refers(to: link.object, by: inverse), refers != refersBack
            else { continue }
            let otherEndWins = link.otherEndWins || (link.relationship.isToMany && !inverse.isToMany)
            switch (otherEndWins, otherEndWins ? refersBack : refers) {
            case (true, true): link.object.gain(link.other, at: link.relationship)
            case (true, false): link.object.lose(link.other, at: link.relationship)
            case (false, true): link.other.gain(link.object, at: inverse)
            case (false, false): link.other.lose(link.object, at: inverse)
            }
        }
    }

    /// Adds a link to a restored object, unless it is related elsewhere.
    private func fill(_ link: ChangedLink, _ inverse: NSRelationshipDescription) {
        let refersBack = link.other.refers(to: link.object, by: inverse) ?? !link.object.flags.contains(.inserted)
        guard link.object.refers(to: link.other, by: link.relationship) ?? false, !refersBack else { return }
        if inverse.isToMany || link.other.toOne(inverse) == nil {
            link.other.gain(link.object, at: inverse)
        } else {
            link.object.lose(link.other, at: link.relationship)
        }
    }

    /// Removes the links to an object whose relationship the undo changed before it deleted the object.
    private func cut(_ link: ChangedLink, _ inverse: NSRelationshipDescription) {
        guard link.object.flags.contains(.deleted), !link.other.flags.contains(.deleted), link.relationship.deleteRule != .denyDeleteRule
        else { return }
        if link.other.refers(to: link.object, by: inverse) ?? link.existedBefore { link.other.lose(link.object, at: inverse) }
    }
}
