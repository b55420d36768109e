"""Every rule of ours: its stable code and what it protects. A code is never reused.

UC1 file and YAML, UC2 identity and names, UC3 network, UC4 compute and capacity, UC5 storage,
UC6 jobs and queues, UC7 buying capacity, UC8 local AWS, UC9 tools around us.
"""

from dataclasses import dataclass
from typing import Literal

__all__ = ["RULES", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        summary: What holds when the rule is kept, in one sentence.
        severity: ``error`` stops the work; ``warning`` is shown.
    """

    summary: str
    severity: Literal["error", "warning"] = "error"


RULES: dict[str, Rule] = {
    # UC1, file and YAML
    "UC1001": Rule("The rollout file is a regular file that can be read."),
    "UC1002": Rule("The rollout file has at most 256 KiB."),
    "UC1003": Rule("The rollout file is UTF-8."),
    "UC1004": Rule("The rollout file has no control characters, bidirectional marks or lone surrogates."),
    "UC1005": Rule("The rollout file is well-formed YAML."),
    "UC1006": Rule("The rollout file is one document, and that is one mapping."),
    "UC1007": Rule("Nothing in the rollout file is nested deeper than 20 levels."),
    "UC1008": Rule("The rollout file has no anchors and no aliases."),
    "UC1009": Rule("The rollout file has no tags."),
    "UC1010": Rule("The rollout file has no merge keys."),
    "UC1011": Rule("The keys of a mapping are text."),
    "UC1012": Rule("A key occurs once in a mapping."),
    "UC1013": Rule("A number is written in plain decimal."),
    "UC1014": Rule("A number is finite and keeps its value in JSON."),
    "UC1015": Rule("A truth value is written true or false."),
    "UC1016": Rule("A time of day is written in quotes."),
    "UC1017": Rule("A value does not look like a variable that something would fill in.", "warning"),
    "UC1020": Rule("Every key of the rollout file is known."),
    "UC1021": Rule("Every value that has no default is given."),
    "UC1022": Rule("Every value has the type of its key."),
    "UC1023": Rule("A value with a fixed set of choices is one of them."),
    "UC1024": Rule("A list has as many items as its key allows."),
    "UC1018": Rule("A rollout has at most 50,000 values once the defaults are in each cluster."),
    # UC2, identity and names
    "UC2101": Rule("The name of a wave, a cluster or a job is short, lower case and starts with a letter."),
    "UC2102": Rule("A Region exists."),
    "UC2103": Rule("A Region belongs to a partition that this project was tested in.", "warning"),
    "UC2104": Rule("An account is 12 digits in quotes."),
    "UC2105": Rule("A cluster's name is used once in a Region."),
    "UC2106": Rule("A wave's name is used once."),
    "UC2107": Rule("Tags keep the limits that AWS sets for keys, values and their number."),
    "UC2108": Rule("The rollout file holds no credentials."),
    # UC3, network
    "UC3001": Rule("A count that goes into the size of a subnet is not negative."),
    "UC3002": Rule("A subnet has an address for everything that the cluster puts into it."),
    "UC3003": Rule("A zone id belongs to a Region that the catalogue knows."),
    "UC3101": Rule("A zone is given by its zone id."),
    "UC3102": Rule("A zone belongs to the Region of its cluster."),
    "UC3103": Rule("A VPC is an IPv4 network of /16 to /28 that EC2 accepts."),
    "UC3104": Rule("A VPC uses private addresses that collide with nothing on the nodes.", "warning"),
    "UC3105": Rule("The subnet of the nodes lies inside the VPC and holds all its addresses."),
    # UC4, compute and capacity
    "UC4001": Rule("An instance type is one that the catalogue knows."),
    "UC4002": Rule("A layout of network interfaces is one of the named ones."),
    "UC4010": Rule("The primary interface is on network card 0, device index 0, and has an IP address."),
    "UC4011": Rule("A network interface is on a network card that the instance type has."),
    "UC4012": Rule("A device index is below the number of interfaces that its network card takes."),
    "UC4013": Rule("Two network interfaces never share a network card and device index."),
    "UC4014": Rule("A network card carries one EFA or EFA-only interface at most."),
    "UC4015": Rule("An EFA or EFA-only interface is on a network card that supports EFA."),
    "UC4016": Rule("Every EFA interface of an instance type is used.", "warning"),
    "UC4020": Rule("Nodes of a Capacity Block have no placement group."),
    "UC4021": Rule("Capacity and network are in the same Availability Zone."),
    "UC4022": Rule("Something says in which Availability Zone the nodes are."),
    "UC4101": Rule("The number of nodes is 1 to 1,000."),
    "UC4102": Rule("A Capacity Block has at most 64 instances."),
    "UC4103": Rule("A number of nodes is one that Capacity Blocks are usually offered in.", "warning"),
    "UC4104": Rule("An instance type is sold in the way that the cluster asks for."),
    "UC4105": Rule("The nodes of one UltraServer block are those of one UltraServer."),
    "UC4106": Rule("An instance type is known to be offered in the zone.", "warning"),
    "UC4107": Rule("A Capacity Block is known to be sold for the type in the Region.", "warning"),
    "UC4108": Rule("A cluster in a Capacity Block names its reservation."),
    "UC4109": Rule("A Capacity Reservation is given by its id."),
    "UC4110": Rule("An AMI is given by its id."),
    "UC4111": Rule("A time is ISO 8601 in UTC."),
    "UC4112": Rule("Capacity starts before it ends."),
    "UC4113": Rule("A Capacity Block ends at 11:30 UTC.", "warning"),
    "UC4114": Rule("A Capacity Block lasts at most 182 days.", "warning"),
    "UC4115": Rule("An id that exists in one place only is not used in two."),
    # UC5, storage
    "UC5001": Rule("A Lustre deployment type is one that FSx offers."),
    "UC5002": Rule("A throughput tier is one of the deployment type."),
    "UC5003": Rule("A storage capacity is on a step of its deployment type and tier."),
    "UC5004": Rule("A Lustre version is one that the deployment type runs."),
    "UC5005": Rule("EFA and provisioned metadata IOPS are asked of a file system that can have them."),
    "UC5006": Rule("Metadata IOPS are a value that FSx provisions."),
    "UC5101": Rule("The size of a file system is 1,200 GiB or more."),
    # UC6, jobs and queues
    "UC6010": Rule("The address of the compile cache is given in one way only."),
    "UC6101": Rule("A job asks for no more nodes than its cluster has."),
    "UC6102": Rule("A job over several nodes runs on a type with EFA."),
    "UC6103": Rule("A job starts no more processes on a node than the node has NeuronCores."),
    "UC6104": Rule("A job's attempts and timeout are within what Batch takes."),
    "UC6105": Rule("A job's timeout ends before its capacity does.", "warning"),
    "UC6106": Rule("A job's image is the reference of a container image."),
    "UC6107": Rule("A job's image is pinned to a tag that does not move, or to a digest.", "warning"),
    "UC6108": Rule("A job's image lies in the Amazon ECR of the cluster's Region.", "warning"),
    "UC6109": Rule("A name of a job's environment is one that a shell and Batch accept."),
    "UC6110": Rule("A job's name is used once in a cluster."),
    # UC7, buying capacity
    "UC7001": Rule("The name of an order and of its cluster is short, lower case and starts with a letter."),
    "UC7002": Rule("An order names the account that pays."),
    "UC7003": Rule("An order names the Regions to buy in."),
    "UC7004": Rule("An order names zones by their zone ids."),
    "UC7005": Rule("An order names one currency."),
    "UC7006": Rule("An order has a price cap, within the cap of the month."),
    "UC7007": Rule("An order names who approves it."),
    "UC7008": Rule("The times of an order are in UTC."),
    "UC7009": Rule("An approval expires in the future."),
    "UC7010": Rule(
        "An order is for one instance type or one UltraServer type, sold in the way that it asks for."
    ),
    "UC7011": Rule("An order is for as many instances as AWS sells at once."),
    "UC7012": Rule("An order names a platform that capacity is sold for."),
    "UC7013": Rule("An order asks for durations that AWS sells."),
    "UC7014": Rule("The times of an order leave something to buy."),
    "UC7015": Rule("An extension names a Capacity Reservation."),
    "UC7016": Rule("An order names a known ranking of offers."),
    "UC7017": Rule("An order looks in Regions that are known to sell what it asks for.", "warning"),
    "UC7020": Rule("An order is in the ledger before it is bought."),
    "UC7021": Rule("The ledger's table can be used."),
    "UC7022": Rule("The name of an order is used once."),
    "UC7023": Rule("An order is in a state that allows what is asked."),
    "UC7024": Rule("Nothing is bought on an approval that has expired."),
    "UC7025": Rule("Nothing is bought on terms other than those that were approved."),
    "UC7026": Rule("The credentials are of the account that the order names."),
    "UC7027": Rule("Nothing is bought that breaks a term of its order."),
    "UC7028": Rule("A block is extended only while it is as the order expects it."),
    "UC7029": Rule("A block has one extension under way at a time."),
    "UC7030": Rule("Nothing is bought while the clock differs from AWS's by more than 5 minutes."),
    "UC7031": Rule("AWS allows the request."),
    "UC7032": Rule("A cluster, or a block to extend, has one order under way at a time."),
    "UC7033": Rule("The fees of a month stay within its cap."),
    "UC7034": Rule("A person confirms the order and its total, or gives the order's token."),
    "UC7035": Rule("AWS and the ledger answer."),
    "UC7036": Rule("The outcome of what was sent is known.", "warning"),
    "UC7037": Rule("A person decides about an order that left no trace.", "warning"),
    "UC7038": Rule("AWS keeps what it sold.", "warning"),
    "UC7039": Rule("What is sent is bought.", "warning"),
    "UC7040": Rule("Only what AWS takes back is cancelled."),
    "UC7041": Rule("The account has a quota for Capacity Blocks."),
    "UC7042": Rule("Every Region answers a search.", "warning"),
    "UC7043": Rule("Every offering can be read.", "warning"),
    "UC7044": Rule("An order is closed on evidence."),
    "UC7045": Rule("Every instance runs in the reservation that was bought for it."),
    "UC7046": Rule("A reservation that was paid is used."),
    "UC7047": Rule("A dry run is answered as a dry run."),
    "UC7101": Rule("A duration is one that Capacity Blocks are sold for."),
    "UC7201": Rule("A purchase role names the Regions that it buys in."),
    "UC7202": Rule("A purchase role names the instance types that it buys."),
    "UC7203": Rule("A purchase role has a cap on instances, of one or more."),
    "UC7204": Rule("A role of capacity is assumed by somebody who is named."),
    # UC8, local AWS
    "UC8001": Rule("The local AWS is reached over a loopback address, and nothing else is."),
    "UC8002": Rule("One local AWS runs in a process: moto keeps its state in modules."),
    "UC8003": Rule("The port of the local AWS is free."),
    "UC8004": Rule("The local AWS has the packages that it needs."),
    "UC8005": Rule("One local AWS runs in the background of a directory."),
    "UC8006": Rule("The local AWS in the background answers."),
    "UC8007": Rule("A cloud assembly holds what the local AWS can deploy."),
    # UC9, tools around us
    "UC9001": Rule("Commands that deploy run in the folder of a CDK app."),
    "UC9002": Rule("cdk.json can be read and names the rollout that is deployed when none is given."),
    "UC9003": Rule("Node is on the search path."),
    "UC9004": Rule("The CDK CLI is in node_modules or on the search path."),
    "UC9005": Rule("The CDK CLI is of a version that reads the assemblies of our aws-cdk-lib."),
    "UC9006": Rule("cdk deploy ends without an error."),
    "UC9007": Rule("What was deployed can be read back."),
    "UC9008": Rule("A wave that is named on the command line exists in the rollout."),
    "UC9009": Rule("There are credentials of an AWS account, and AWS accepts them."),
}
