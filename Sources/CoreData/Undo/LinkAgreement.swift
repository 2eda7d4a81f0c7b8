internal import Foundation

/// The ends of a link that an undo has changed. They may disagree where others have changed one of them since, and that was merged.
struct TouchedLink {
    let object: NSManagedObject
    let relationship: NSRelationshipDescription
    let other: NSManagedObject
    /// Whether the other end decides: the object has come back with what it led to when it went.
    var otherDecides = false
    /// Whether the object led to the other one before the undo, and so, unless the undo has changed that, the other one leads back.
    var isStanding = false
}

extension EventStep {
    /// The links that going back over the step changes.
    var touchedLinks: [TouchedLink] {
        switch self {
        case .toOne(let object, let relationship, let before):
            let now = object.registry == nil ? nil : object.toOne(relationship)
            return [before, now].compactMap { $0 }.map {
                TouchedLink(object: object, relationship: relationship, other: $0, isStanding: $0 === now)
            }
        case .added(let object, let relationship, let other), .removed(let object, let relationship, let other, _):
            return [TouchedLink(object: object, relationship: relationship, other: other)]
        case .replaced(let object, let relationship, let before, let after):
            return (before + after).map { TouchedLink(object: object, relationship: relationship, other: $0) }
        default: return []
        }
    }
}

extension NSManagedObject {
    /// The links of an object that has come back. Those to objects that are gone are dropped.
    func linksAfterReturn() -> [TouchedLink] {
        var links: [TouchedLink] = []
        for relationship in owningEntity.frozen!.relationships where relationship.keptInverse != nil {
            for other in related(relationship) {
                if other.registry === registry {
                    links.append(TouchedLink(object: self, relationship: relationship, other: other, otherDecides: true))
                } else {
                    lose(other, at: relationship)
                }
            }
        }
        return links
    }

    /// Whether a relationship leads to an object; nil where only the store knows: an end that was not asked for is as the store has it, and an
    /// undo fires no faults.
    fileprivate func leads(to other: NSManagedObject, by relationship: NSRelationshipDescription) -> Bool? {
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
    /// Makes the two ends of links agree: for what has come back the others decide, else the end that leads to one object, else the one that
    /// the undo is about.
    func agree(on links: [TouchedLink]) {
        for link in links {
            guard let inverse = link.relationship.keptInverse, link.object.registry === registry, link.other.registry === registry
            else { continue }
            if link.object.flags.contains(.deleted) || link.other.flags.contains(.deleted) {
                cut(link, inverse)
                continue
            }
            guard let leads = link.object.leads(to: link.other, by: link.relationship),
                let leadsBack = link.other.leads(to: link.object, by: inverse), leads != leadsBack
            else { continue }
            let otherDecides = link.otherDecides || (link.relationship.isToMany && !inverse.isToMany)
            switch (otherDecides, otherDecides ? leadsBack : leads) {
            case (true, true): link.object.gain(link.other, at: link.relationship)
            case (true, false): link.object.lose(link.other, at: link.relationship)
            case (false, true): link.other.gain(link.object, at: inverse)
            case (false, false): link.other.lose(link.object, at: inverse)
            }
        }
    }

    /// An undo has deleted the object that it has led elsewhere before: what others have led to it leads nowhere.
    private func cut(_ link: TouchedLink, _ inverse: NSRelationshipDescription) {
        guard link.object.flags.contains(.deleted), !link.other.flags.contains(.deleted), link.relationship.deleteRule != .denyDeleteRule
        else { return }
        if link.other.leads(to: link.object, by: inverse) ?? link.isStanding { link.other.lose(link.object, at: inverse) }
    }
}
